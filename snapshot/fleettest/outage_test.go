package fleettest

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/snapshot"
)

// outageSeries are how many series count during an outage.
const outageSeries = 2000

// heap returns what is in use after a collection. The second one frees what the
// first one's finalizers held.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// flatWithin is by how much the heap may grow in an outage: less than a tenth of
// what one snapshot of outageSeries takes for each interval would come to.
const flatWithin = 512 << 10

// An outage is a sink in memory that is down at first.
type outage struct {
	down func(context.Context, *outage) error
	up   chan struct{} // closed when it is over

	mu     sync.Mutex
	writes int // that it refused
	took   int
	last   map[string]int64
}

var errDown = errors.New("down")

func (o *outage) Write(ctx context.Context, s *snapshot.Snapshot) error {
	select {
	case <-o.up:
		o.mu.Lock()
		defer o.mu.Unlock()
		o.took++
		o.last = map[string]int64{}
		for c := range s.AllCounters() {
			o.last[c.Key.String()] += c.Value
		}
		return nil
	default:
		o.mu.Lock()
		o.writes++
		o.mu.Unlock()
		return o.down(ctx, o)
	}
}

// tried returns how many writes there were while the sink was down.
func (o *outage) tried() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writes
}

// Ten minutes of outage leave nothing behind, and the first flush after them
// brings all that was counted.
func TestOutageOfTenMinutes(t *testing.T) {
	for _, test := range []struct {
		name string
		down func(context.Context, *outage) error
		most int // writes: the exporter backs off
	}{
		{"refuses", func(context.Context, *outage) error { return errDown }, 40},
		{"hangs until the write's time is up", func(ctx context.Context, _ *outage) error { <-ctx.Done(); return ctx.Err() }, 40},
		{"hangs for all the time", func(_ context.Context, o *outage) error { <-o.up; return errDown }, 1},
		{"panics", func(context.Context, *outage) error { panic("down") }, 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const seconds = 600
				sink := &outage{down: test.down, up: make(chan struct{})}
				e, err := hotcount.New(hotcount.Options{
					Interval: time.Second, Sinks: []export.Sink{sink}, Logger: slog.New(slog.DiscardHandler),
				})
				require.NoError(t, err)
				hits := e.CounterVec("hits_total", "n")
				var before int64
				for second := range seconds {
					for i := range outageSeries {
						hits.With(strconv.Itoa(i)).Add(int64(i))
					}
					time.Sleep(time.Second)
					if second == 60 {
						before = heap()
					}
				}
				grown := heap() - before
				assert.Less(t, grown, int64(flatWithin))
				tried := sink.tried()
				assert.LessOrEqual(t, tried, test.most)
				assert.Positive(t, tried)
				t.Logf("%d snapshots were taken, %d tried; the heap of %d KiB grew by %d KiB",
					e.ExportStats().Seq, tried, before>>10, grown>>10)

				close(sink.up)
				flushing, cancel := context.WithTimeout(t.Context(), time.Minute) // a Write hangs still
				defer cancel()
				require.NoError(t, e.Flush(flushing))
				assert.Equal(t, 1, sink.took, "there is no backlog to work off")
				for i := range outageSeries {
					key := hits.With(strconv.Itoa(i)).Key().String()
					require.EqualValues(t, seconds*i, sink.last[key], key)
				}
				require.NoError(t, e.Close(t.Context()))
			})
		})
	}
}

var outageFor = flag.Duration("outage", 4*time.Second, "how long Redis is away in TestOutageOfRedis")

// The same with a real server: first it hangs, then it is not there.
func TestOutageOfRedis(t *testing.T) {
	st := storeNamed("redis")
	server := st.start(t)
	proxy, err := chaos.Listen(server.Addr(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { proxy.Close() })
	to, err := st.open(proxy.Addr(), client{})
	require.NoError(t, err)
	t.Cleanup(to.close)
	e, err := hotcount.New(hotcount.Options{
		Dir: t.TempDir(), Interval: 50 * time.Millisecond, Sinks: []export.Sink{to.Sink}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	hits := e.CounterVec("fleet_hits_total", "n")
	want := map[string]int64{}
	rounds := int64(0)
	count := func() {
		rounds++
		for i := range outageSeries {
			hits.With(strconv.Itoa(i)).Inc()
		}
	}
	count()
	flushUntilHeld(t, e)
	adds := func(d time.Duration) {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(d); time.Now().Before(end); {
			<-tick.C
			count()
		}
	}
	proxy.Redirect(mute(t))
	proxy.CutAll()
	adds(*outageFor / 4)
	before := heap()
	adds(*outageFor / 4)
	proxy.Redirect(server.Addr())
	proxy.CutAll()
	server.Kill()
	adds(*outageFor / 2)
	grown := heap() - before
	assert.Less(t, grown, int64(flatWithin))
	st2 := e.ExportStats()
	t.Logf("away for %v; %d adds; %d snapshots, %d writes of which %d failed; the heap of %d KiB grew by %d KiB",
		*outageFor, rounds*outageSeries, st2.Seq, st2.Sinks[1].Writes, st2.Sinks[1].Failures, before>>10, grown>>10)

	server.Start()
	flushUntilHeld(t, e)
	for i := range outageSeries {
		want[hits.With(strconv.Itoa(i)).Key().String()] = rounds
	}
	got := totals(t, to)
	for key, n := range want {
		require.Equal(t, n, got[key], key)
	}
	require.NoError(t, e.Close(t.Context()))
}

// mute returns the address of a server that takes connections and says nothing.
func mute(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// flushUntilHeld flushes until the store holds all that was counted before.
func flushUntilHeld(t testing.TB, e *hotcount.Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endWithin)
	defer cancel()
	for {
		within, stop := context.WithTimeout(ctx, flushWithin)
		err := e.Flush(within)
		stop()
		if err == nil {
			return
		}
		require.NoError(t, ctx.Err(), "%v", err)
		require.NotErrorIs(t, err, export.ErrTooLate)
	}
}
