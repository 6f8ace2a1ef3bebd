package fleettest

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/chaos"
)

const (
	addsPerSample = 20_000_000
	besideSeries  = 1000
	besideEvery   = 100 * time.Millisecond
)

// BenchmarkAddBeside adds while the engine exports to nobody, to Redis, to one
// that answers late, to one that does not answer, and to one that is not there. It
// reports the speed of each as a part of that beside nobody.
func BenchmarkAddBeside(b *testing.B) {
	st := storeNamed("redis")
	server := st.start(b)
	slow, err := chaos.Listen(server.Addr(), 1)
	require.NoError(b, err)
	defer slow.Close()
	slow.Set(chaos.Faults{Slow: 1, Delay: 200 * time.Millisecond})
	absent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	require.NoError(b, absent.Close())
	sides := []side{besideSide(b, "alone", "")}
	for _, s := range []struct{ name, addr string }{
		{"redis", server.Addr()}, {"slow", slow.Addr()}, {"mute", mute(b)}, {"absent", absent.Addr().String()},
	} {
		sides = append(sides, besideSide(b, s.name, s.addr))
	}
	for b.Loop() {
		medians := compare(b, sides)
		for _, s := range sides[1:] {
			b.ReportMetric(float64(medians["alone"])/float64(medians[s.name]), s.name+"-speed")
		}
	}
}

// besideSide returns a side that has an engine of its own for each sample, so that
// no other exports meanwhile.
func besideSide(b *testing.B, name, addr string) side {
	return side{
		name: name,
		prepare: func() (run func() error, end func(), err error) {
			o := hotcount.Options{Interval: besideEvery, Logger: slog.New(slog.DiscardHandler)}
			disconnect := func() {}
			if addr != "" {
				to, err := storeNamed("redis").open(addr, client{})
				if err != nil {
					return nil, nil, err
				}
				o.Sinks, disconnect = []export.Sink{to.Sink}, to.close
			}
			e, err := hotcount.New(o)
			if err != nil {
				return nil, nil, err
			}
			for i := range besideSeries {
				e.Counter("others_total", "n", strconv.Itoa(i)).Inc()
			}
			c := e.Counter("hits_total")
			run = func() error {
				for range addsPerSample {
					c.Inc()
				}
				return nil
			}
			return run, func() {
				closing, cancel := context.WithTimeout(b.Context(), time.Millisecond)
				defer cancel()
				e.Close(closing) // where nobody answers it cannot end well
				disconnect()
			}, nil
		},
	}
}
