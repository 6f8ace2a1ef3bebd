package hotcount

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

func TestCloseFlushesTheLastAdds(t *testing.T) {
	l := newLedger(t)
	e, err := New(Options{Sinks: []export.Sink{l}, Interval: time.Hour})
	require.NoError(t, err)
	c := e.Counter("jobs_total")
	const writers, adds = 4, 1000
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range adds {
				c.Inc()
			}
		})
	}
	wg.Wait()
	require.NoError(t, e.Close(t.Context()))
	assert.EqualValues(t, writers*adds, l.total(c))

	c.Inc() // still counts, and is not exported
	assert.EqualValues(t, writers*adds+1, c.Value())
	require.NoError(t, e.Close(t.Context()))
	assert.EqualValues(t, writers*adds, l.total(c))
	assert.ErrorIs(t, e.Flush(t.Context()), export.ErrClosed)
}

func TestEngineWithoutSinks(t *testing.T) {
	e, err := New(Options{})
	require.NoError(t, err)
	assert.NoError(t, e.Flush(t.Context()))
	assert.Zero(t, e.ExportStats())
	assert.Zero(t, e.Restored())
	assert.NoError(t, e.Close(t.Context()))
	assert.NoError(t, e.Close(t.Context()))
}

// A stuck sink ignores its context until let go.
type stuck struct{ letGo chan struct{} }

func (s stuck) Write(context.Context, *snapshot.Snapshot) error {
	<-s.letGo
	return errors.New("stuck")
}

func TestCloseKeepsItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good, bad := newLedger(t), stuck{make(chan struct{})}
		e, err := New(Options{Sinks: []export.Sink{good, bad}})
		require.NoError(t, err)
		c := e.Counter("jobs_total")
		c.Inc()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		began := time.Now()
		err = e.Close(ctx)
		assert.LessOrEqual(t, time.Since(began), 2050*time.Millisecond)
		var unflushed *export.UnflushedError
		require.ErrorAs(t, err, &unflushed)
		require.Len(t, unflushed.Sinks, 1)
		assert.Equal(t, "hotcount.stuck", unflushed.Sinks[0].Name)
		assert.EqualValues(t, 1, good.total(c))
		close(bad.letGo)
	})
}

// A Close whose context has ended saves the last adds all the same.
func TestCloseWithASpentContextKeepsDir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		dir, hung := t.TempDir(), stuck{make(chan struct{})}
		defer close(hung.letGo)
		const runs = 20
		for i := range int64(runs) {
			e, err := New(Options{Dir: dir, Interval: time.Hour})
			require.NoError(t, err)
			c := e.Counter("jobs_total")
			require.Equal(t, i, c.Value())
			c.Inc()
			require.NoError(t, e.Close(ctx))
		}
		e, err := New(Options{Dir: dir, Interval: time.Hour, Sinks: []export.Sink{hung}})
		require.NoError(t, err)
		e.Counter("jobs_total").Inc()
		var unflushed *export.UnflushedError
		require.ErrorAs(t, e.Close(ctx), &unflushed)
		require.Equal(t, []string{"hotcount.stuck"}, []string{unflushed.Sinks[0].Name})
		e, err = New(Options{Dir: dir})
		require.NoError(t, err)
		require.EqualValues(t, runs+1, e.Counter("jobs_total").Value())
		require.NoError(t, e.Close(ctx))
	})
}

// Retired series leave by themselves when the exporter's sinks hold their last
// rows, and only then.
func TestExporterAcknowledges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &flaky{ledger: newLedger(t)}
		e, err := New(Options{Sinks: []export.Sink{sink}, Interval: time.Second})
		require.NoError(t, err)
		defer e.Close(context.Background())
		c := e.Counter("jobs_total")
		c.Add(3)
		c.Delete()
		sink.failing.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.EqualValues(t, 1, e.live.Load(), "no sink holds the final row")
		sink.failing.Store(false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Zero(t, e.live.Load())
		assert.EqualValues(t, 3, sink.total(c))
	})
}

// A refusing sink fails for good.
type refusing struct{}

func (refusing) Write(context.Context, *snapshot.Snapshot) error {
	return fmt.Errorf("refused: %w", export.ErrTooLate)
}

// The next engine may have Dir when Close has returned, though a sink does not
// hold the last snapshot.
func TestFailedCloseReleasesDir(t *testing.T) {
	dir := t.TempDir()
	const runs = 10
	for i := range int64(runs) {
		e, err := New(Options{Dir: dir, Sinks: []export.Sink{refusing{}}})
		require.NoError(t, err)
		c := e.Counter("jobs_total")
		assert.Equal(t, i, c.Value())
		c.Inc()
		var unflushed *export.UnflushedError
		require.ErrorAs(t, e.Close(t.Context()), &unflushed)
	}
}

// A sink's Write is given Options.Timeout.
func TestTimeoutReachesTheSinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan time.Duration, 1)
		e, err := New(Options{Timeout: 3 * time.Minute, Sinks: []export.Sink{deadlineSink(left)}})
		require.NoError(t, err)
		assert.Equal(t, 3*time.Minute, <-left)
		require.NoError(t, e.Close(context.Background()))
	})
}

// A deadlineSink tells how long its first Write may take.
type deadlineSink chan time.Duration

func (d deadlineSink) Write(ctx context.Context, _ *snapshot.Snapshot) error {
	deadline, _ := ctx.Deadline()
	select {
	case d <- time.Until(deadline):
	default:
	}
	return nil
}
