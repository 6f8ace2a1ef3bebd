package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
)

// tally is a Source of one counter.
type tally struct {
	n, seq, acked atomic.Int64
	delay         atomic.Int64 // of Snapshot, in nanoseconds
	broken        atomic.Bool
}

func (c *tally) Snapshot(s *snapshot.Snapshot) {
	time.Sleep(time.Duration(c.delay.Load()))
	if c.broken.Load() {
		panic("source panics")
	}
	s.Seq = uint64(c.seq.Add(1))
	s.Taken = time.Now()
	s.Counters = append(s.Counters, snapshot.CounterRow{Value: c.n.Load()})
}

func (c *tally) Acknowledge(seq uint64) {
	if c.broken.Load() {
		panic("source panics")
	}
	c.acked.Store(int64(seq))
}

// A recorder is a Sink that notes what it gets and answers with err.
type recorder struct {
	mu    sync.Mutex // orders what a test does before mend before later Writes
	seqs  []uint64
	last  int64
	times []time.Time
	err   error
	stuck time.Duration // ignoring the context
}

// mend lets later Writes succeed.
func (r *recorder) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = nil
}

func (r *recorder) Write(_ context.Context, s *snapshot.Snapshot) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seqs = append(r.seqs, s.Seq)
	r.times = append(r.times, time.Now())
	time.Sleep(r.stuck)
	if r.err == nil && len(s.Counters) > 0 {
		r.last = s.Counters[0].Value
	}
	return r.err
}

// exporting runs f with an exporter in a bubble and closes it.
func exporting(t *testing.T, o Options, f func(t *testing.T, e *Exporter, src *tally)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var src tally
		o.Source = &src
		if o.Logger == nil {
			o.Logger = slog.New(slog.DiscardHandler)
		}
		e, err := New(o)
		require.NoError(t, err)
		f(t, e, &src)
		_ = e.Close(t.Context())
		time.Sleep(time.Hour) // let stuck sinks come back
	})
}

func TestCloseExportsTheLastCount(t *testing.T) {
	r := &recorder{}
	exporting(t, Options{Sinks: []Sink{r}}, func(t *testing.T, e *Exporter, src *tally) {
		src.n.Store(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, r.last)
		src.n.Store(2)
		require.NoError(t, e.Close(t.Context()))
		require.EqualValues(t, 2, r.last)
		require.Equal(t, src.seq.Load(), src.acked.Load())
		n := len(r.seqs)
		time.Sleep(time.Minute)
		require.Len(t, r.seqs, n, "nothing after Close")
	})
}

// TestIntervals: the first snapshot comes at a random moment of the first
// interval, the others an interval apart, give or take a tenth.
func TestIntervals(t *testing.T) {
	const every, runs = 10 * time.Second, 200
	var firsts [4]int // by quarter of the interval
	shortest, longest := every, every
	for range runs {
		r := &recorder{}
		exporting(t, Options{Sinks: []Sink{r}, Interval: every}, func(t *testing.T, e *Exporter, src *tally) {
			start := time.Now()
			time.Sleep(10 * every)
			synctest.Wait()
			first := r.times[0].Sub(start)
			require.Less(t, first, every)
			firsts[first/(every/4)]++
			for i, at := range r.times[1:] {
				interval := at.Sub(r.times[i])
				require.InDelta(t, every, interval, float64(every/10))
				shortest, longest = min(shortest, interval), max(longest, interval)
			}
		})
	}
	for _, n := range firsts {
		require.Greater(t, n, runs/10) // a quarter is expected
	}
	// Of some 1,700 even draws nearly all of the two tenths is expected.
	require.Greater(t, longest-shortest, every/10, "intervals do not vary")
}

// TestASlowSinkGetsTheNewestAndNoBacklog keeps a sink busy for many intervals.
func TestASlowSinkGetsTheNewestAndNoBacklog(t *testing.T) {
	slow := &recorder{stuck: 95 * time.Second}
	exporting(t, Options{Sinks: []Sink{slow}}, func(t *testing.T, e *Exporter, src *tally) {
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		for i, at := range slow.times[1:] {
			require.GreaterOrEqual(t, at.Sub(slow.times[i]), slow.stuck)
			require.GreaterOrEqual(t, slow.seqs[i+1]-slow.seqs[i], uint64(8), "states were skipped")
		}
		require.LessOrEqual(t, e.Stats().Seq-slow.seqs[len(slow.seqs)-1], uint64(10))
	})
}

func TestBackoff(t *testing.T) {
	down := &recorder{err: errors.New("down")}
	exporting(t, Options{Sinks: []Sink{down}, Interval: time.Second}, func(t *testing.T, e *Exporter, src *tally) {
		time.Sleep(time.Hour)
		synctest.Wait()
		want := minBackoff
		for i, at := range down.times[1:] {
			wait := at.Sub(down.times[i])
			require.GreaterOrEqual(t, wait, want/2)
			require.LessOrEqual(t, wait, want)
			want = min(2*want, maxBackoff)
		}
		st := e.Stats().Sinks[0]
		require.EqualValues(t, len(down.times), st.Failures)
		require.Equal(t, st.Failures, st.Writes)
		require.ErrorIs(t, st.Err, down.err)
		require.Zero(t, src.acked.Load())

		down.mend()
		tries := len(down.times)
		require.NoError(t, e.Flush(t.Context()), "without waiting for the back-off")
		require.Len(t, down.times, tries+1, "the newest state, no more")
		synctest.Wait()
		require.Equal(t, src.seq.Load(), src.acked.Load())
		require.NoError(t, e.Stats().Sinks[0].Err)
	})
}

// refuser is a Sink that refuses one writer.
type refuser struct {
	recorder
	writer snapshot.WriterID
	with   error
}

func (r *refuser) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.with = nil
}

func (r *refuser) Write(ctx context.Context, s *snapshot.Snapshot) error {
	if s.Writer == r.writer {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.with
	}
	return r.recorder.Write(ctx, s)
}

func TestAnEarlierRunThatIsTooLateIsGivenUp(t *testing.T) {
	r := &refuser{writer: snapshot.WriterID{9}, with: fmt.Errorf("refused: %w", ErrTooLate)}
	var handed []snapshot.WriterID
	exporting(t, Options{
		Sinks:    []Sink{r, &recorder{}},
		Prior:    []*snapshot.Snapshot{{Writer: snapshot.WriterID{9}}},
		HandedOn: func(w snapshot.WriterID) { handed = append(handed, w) },
	}, func(t *testing.T, e *Exporter, src *tally) {
		time.Sleep(time.Minute)
		synctest.Wait()
		st := e.Stats().Sinks[0]
		require.False(t, st.Stopped)
		require.EqualValues(t, 1, st.Failures)
		require.Equal(t, []snapshot.WriterID{{9}}, handed)
		require.NoError(t, e.Flush(t.Context()))
	})
}

func TestWithoutSinksAllIsAcknowledged(t *testing.T) {
	var handed []snapshot.WriterID
	o := Options{
		Prior:    []*snapshot.Snapshot{{Writer: snapshot.WriterID{9}}},
		HandedOn: func(w snapshot.WriterID) { handed = append(handed, w) },
	}
	exporting(t, o, func(t *testing.T, e *Exporter, src *tally) {
		require.NoError(t, e.Flush(t.Context()))
		require.EqualValues(t, 1, src.acked.Load())
		require.Equal(t, []snapshot.WriterID{{9}}, handed)
	})
}

func TestAPanickingSourceIsSurvived(t *testing.T) {
	r := &recorder{}
	var logged bytes.Buffer
	o := Options{
		Sinks:    []Sink{r},
		Logger:   slog.New(slog.NewTextHandler(&logged, nil)),
		Prior:    []*snapshot.Snapshot{{Writer: snapshot.WriterID{9}}},
		HandedOn: func(snapshot.WriterID) { panic("HandedOn panics") },
	}
	exporting(t, o, func(t *testing.T, e *Exporter, src *tally) {
		src.broken.Store(true)
		time.Sleep(time.Minute)
		require.ErrorContains(t, e.Flush(t.Context()), "source panics")
		src.broken.Store(false)
		require.NoError(t, e.Flush(t.Context()))
		synctest.Wait()
		require.Contains(t, logged.String(), "HandedOn panics")
		require.Contains(t, logged.String(), "source panics")
	})
}

// TestCloseKeepsItsDeadline when the sink, or the source, does not.
func TestCloseKeepsItsDeadline(t *testing.T) {
	for name, o := range map[string]struct {
		stuck, delay time.Duration
	}{
		"sink":   {stuck: time.Minute},
		"source": {delay: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			exporting(t, Options{Sinks: []Sink{&recorder{stuck: o.stuck}}}, func(t *testing.T, e *Exporter, src *tally) {
				src.delay.Store(int64(o.delay))
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				err := e.Close(ctx)
				require.LessOrEqual(t, time.Since(start), lastChance+50*time.Millisecond)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				var u *UnflushedError
				require.ErrorAs(t, err, &u)
				require.Len(t, u.Sinks, 1)
			})
		})
	}
}

// A named is a Sink with a name.
type named struct {
	recorder
	name string
}

func (n *named) String() string { return n.name }

// Names go into labels and logs as they are: without passwords, and without what
// has to be escaped there.
func TestSinkNames(t *testing.T) {
	sinks := []Sink{&recorder{}, &recorder{}}
	for _, name := range []string{"fleet", "redis://me:hunter2@host/0", `postgres "a\b"`, "redis ä:\n\xff", "fleet"} {
		sinks = append(sinks, &named{name: name})
	}
	exporting(t, Options{Sinks: sinks}, func(t *testing.T, e *Exporter, src *tally) {
		var names []string
		for _, s := range e.Stats().Sinks {
			names = append(names, s.Name)
		}
		require.Equal(t, []string{"*export.recorder", "*export.recorder#2",
			"fleet", "redis://…@host/0", "postgres _a_b_", "redis ä:_\ufffd", "fleet#2"}, names)
	})
}

func TestExporterOptions(t *testing.T) {
	for _, o := range []Options{{}, {Source: &tally{}, Interval: -1}, {Source: &tally{}, Timeout: -1}, {Source: &tally{}, Sinks: []Sink{nil}}} {
		_, err := New(o)
		require.ErrorContains(t, err, "hotcount/export: Options")
	}
}

// A snapshot of an earlier run, which may be large, is let go of when all sinks
// hold it.
func TestPriorSnapshotsAreLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prior := &snapshot.Snapshot{Writer: snapshot.WriterID{9}, Seq: 1}
		held := weak.Make(prior)
		e, err := New(Options{
			Source: &tally{}, Sinks: []Sink{&recorder{}, &recorder{}}, Prior: []*snapshot.Snapshot{prior},
		})
		require.NoError(t, err)
		require.NoError(t, e.Flush(t.Context()))
		synctest.Wait()
		runtime.GC()
		require.Nil(t, held.Value())
		require.NoError(t, e.Close(t.Context()))
	})
}
