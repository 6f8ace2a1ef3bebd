package snapshot

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type tally struct {
	n, seq, acked atomic.Int64
}

func (c *tally) Snapshot(s *Snapshot) {
	s.Seq = uint64(c.seq.Add(1))
	s.Counters = append(s.Counters, Counter{Value: c.n.Load()})
}

func (c *tally) Acknowledge(seq uint64) { c.acked.Store(int64(seq)) }

type sinkFunc func(ctx context.Context, s *Snapshot) error

func (f sinkFunc) Write(ctx context.Context, s *Snapshot) error { return f(ctx, s) }

func TestExporterClosesOnTheLastCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var src tally
		var last int64
		e, err := NewExporter(ExporterOptions{Source: &src, Sinks: []Sink{sinkFunc(func(_ context.Context, s *Snapshot) error {
			last = s.Counters[0].Value
			return nil
		})}})
		require.NoError(t, err)
		src.n.Store(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, last)
		src.n.Store(2)
		require.NoError(t, e.Close(t.Context()))
		require.EqualValues(t, 2, last)
		require.Equal(t, src.seq.Load(), src.acked.Load())
		require.NoError(t, e.Close(t.Context()))
	})
}
