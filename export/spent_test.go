package export

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// spent returns contexts that have no time left, as when a server's shutdown has
// used up the deadline that it shares with Close.
func spent(t *testing.T) map[string]context.Context {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	t.Cleanup(cancel)
	return map[string]context.Context{"cancelled": cancelled, "late": late}
}

// Whatever other sinks do, one that works gets the last snapshot from a Close
// whose context has ended, and Close returns soon.
func TestCloseWithASpentContext(t *testing.T) {
	for name, other := range map[string]*recorder{
		"works":   {},
		"fails":   {err: errors.New("out of order")},
		"blocked": {err: ErrDenied},
		"stopped": {err: ErrTooLate},
		"hangs":   {stuck: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			for ended := range spent(t) {
				good := &recorder{}
				exporting(t, Options{Sinks: []Sink{good, other}}, func(t *testing.T, e *Exporter, src *tally) {
					time.Sleep(time.Minute)
					synctest.Wait()
					src.n.Store(7)
					start := time.Now()
					err := e.Close(spent(t)[ended])
					require.EqualValues(t, 7, good.last)
					took := time.Since(start)
					if name == "works" {
						require.NoError(t, err)
						require.Zero(t, took)
						return
					}
					var left *UnflushedError
					require.ErrorAs(t, err, &left)
					require.Len(t, left.Sinks, 1)
					require.LessOrEqual(t, took, lastChance+50*time.Millisecond)
					require.Equal(t, name == "fails" || name == "hangs", left.Err != nil)
					if left.Err != nil {
						require.ErrorIs(t, err, spent(t)[ended].Err())
					}
				})
				*other = recorder{err: other.err, stuck: other.stuck}
			}
		})
	}
}

// A sink that fails once may do better in the time that a context still has, and
// gets no second try after it.
func TestCloseTriesOnceAfterItsContext(t *testing.T) {
	sink := &recorder{err: errors.New("out of order")}
	exporting(t, Options{Sinks: []Sink{sink}, Interval: time.Hour}, func(t *testing.T, e *Exporter, src *tally) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		require.ErrorIs(t, e.Close(ctx), context.Canceled)
		require.Len(t, sink.seqs, 1)
		require.Zero(t, time.Since(start))
	})
}
