package hotcount

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

var seconds = window.Options{Resolution: time.Second, Buckets: 60}

// inBubble runs f with an engine in a synctest bubble. The engine has no sinks:
// f takes the snapshots.
func inBubble(t *testing.T, o Options, f func(t *testing.T, e *Engine)) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(o)
		require.NoError(t, err)
		f(t, e)
		require.NoError(t, e.Close(t.Context()))
	})
}

// pass lets time go by, and the sampler's tick of that moment end.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestWindowCountsWhatWasAddedMeanwhile(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, e *Engine) {
		c := e.Counter("views_total")
		c.Add(1000) // before there was a window
		w, err := e.Window(c, seconds)
		require.NoError(t, err)
		for range 10 {
			c.Add(3)
			pass(time.Second)
		}
		span := w.Last(5 * time.Second)
		assert.EqualValues(t, 15, span.Count)
		assert.Equal(t, 5*time.Second, span.Covered)
		assert.EqualValues(t, 30, w.Last(time.Hour).Count)

		same, err := e.Window(c, seconds)
		require.NoError(t, err)
		assert.Same(t, w, same)
	})
}

func TestWindowRefuses(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, e *Engine) {
		c := e.Counter("views_total")
		_, err := e.Window(c, seconds)
		require.NoError(t, err)
		for name, o := range map[string]window.Options{
			"other options":   {Resolution: time.Minute, Buckets: 60},
			"invalid options": {Resolution: -1},
			"another sampler": {Sampler: e.Sampler()},
		} {
			_, err := e.Window(c, o)
			assert.ErrorIs(t, err, window.ErrOptions, name)
			assert.ErrorContains(t, err, "views_total", name)
		}
		v := e.CounterVec("hits_total", "path")
		_, err = e.WindowVec(v, seconds)
		require.NoError(t, err)
		_, err = e.WindowVec(v, window.Options{Resolution: time.Minute, Buckets: 60})
		assert.ErrorIs(t, err, window.ErrOptions)
		_, err = e.WindowVec(v, window.Options{Buckets: -1})
		assert.ErrorIs(t, err, window.ErrOptions)
		_, err = e.WindowVec(v, window.Options{Sampler: e.Sampler()})
		assert.ErrorIs(t, err, window.ErrOptions)
	})
}

// TestTopMovers: the windows of a family include series made before and after,
// and rank them by what was added in the span alone.
func TestTopMovers(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, e *Engine) {
		v := e.CounterVec("views_total", "post")
		v.With("early").Add(1_000_000)
		w, err := e.WindowVec(v, seconds)
		require.NoError(t, err)
		for i := range 20 {
			v.With(strconv.Itoa(i)).Add(int64(i))
		}
		pass(30 * time.Second)
		v.With("7").Add(50)
		v.With("early").Add(40)
		pass(time.Second)

		top := w.Top(2, 10*time.Second)
		require.Len(t, top, 2)
		assert.Equal(t, `views_total{post="7"}`, top[0].Key.String())
		assert.EqualValues(t, 50, top[0].Count)
		assert.Equal(t, `views_total{post="early"}`, top[1].Key.String())
		assert.EqualValues(t, 40, top[1].Count)

		all := w.Top(1000, time.Minute)
		require.Len(t, all, 21)
		for i := range all[1:] {
			assert.GreaterOrEqual(t, all[i].Count, all[i+1].Count)
		}
		assert.Empty(t, w.Top(-1, time.Minute))
		assert.EqualValues(t, 57, w.With("7").Last(time.Minute).Count)
	})
}

func TestWindowOfTheOverflowSeries(t *testing.T) {
	inBubble(t, Options{Limits: Limits{FamilySeries: 1}}, func(t *testing.T, e *Engine) {
		v := e.CounterVec("views_total", "post")
		w, err := e.WindowVec(v, seconds)
		require.NoError(t, err)
		v.With("fits").Inc()
		rest := w.With("no room")
		v.With("no room").Add(2)
		v.With("nor this").Add(3)
		pass(time.Second)
		assert.EqualValues(t, 5, rest.Last(time.Minute).Count)
	})
}

// TestWindowedCounterStays: idle eviction passes over a counter with a window of
// its own, but takes the windows of a family along with their series.
func TestWindowedCounterStays(t *testing.T) {
	inBubble(t, Options{Limits: Limits{IdleAfter: time.Minute}}, func(t *testing.T, e *Engine) {
		pinned := e.Counter("pinned_total")
		_, err := e.Window(pinned, seconds)
		require.NoError(t, err)
		v := e.CounterVec("views_total", "post")
		w, err := e.WindowVec(v, seconds)
		require.NoError(t, err)
		v.With("a").Inc()
		pinned.Inc()

		var s snapshot.Snapshot
		for range 5 {
			pass(time.Minute)
			e.Snapshot(&s)
			e.Acknowledge(s.Seq)
		}
		var names []string
		for k := range e.Totals() {
			names = append(names, k.Name())
		}
		assert.Equal(t, []string{"pinned_total"}, names)
		assert.Empty(t, w.Top(10, time.Minute))
		require.Len(t, s.Windows, 1)
		assert.Equal(t, "pinned_total", s.Windows[0].Key.Name())

		v.With("a").Add(4) // it comes back, with a window
		pass(time.Second)
		top := w.Top(10, time.Minute)
		require.Len(t, top, 1)
		assert.EqualValues(t, 4, top[0].Count)
	})
}

// TestWindowSurvivesARestart: the ring goes on, the time in between is a gap, and
// the restored total is no burst.
func TestWindowSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	down := time.Duration(0)
	run := func(f func(c *Counter, w *window.Ring)) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(down) // every bubble begins at the same moment
			down += 10 * time.Minute
			e, err := New(Options{Dir: dir})
			require.NoError(t, err)
			c := e.Counter("views_total", "post", "1")
			w, err := e.Window(c, window.Options{Resolution: time.Second, Buckets: 3600})
			require.NoError(t, err)
			f(c, w)
			require.NoError(t, e.Close(t.Context()))
		})
	}
	run(func(c *Counter, w *window.Ring) {
		for range 100 {
			c.Add(7)
			pass(time.Second)
		}
	})
	run(func(c *Counter, w *window.Ring) {
		require.EqualValues(t, 700, c.Value())
		span := w.Last(time.Hour)
		require.EqualValues(t, 700, span.Count, "the window of the first run")
		require.InDelta(t, 500*time.Second, span.Gap, float64(2*time.Second), "the process was down")
		pass(10 * time.Second)
		require.Zero(t, w.Last(5*time.Second).Count, "the restored total is no burst")
		c.Add(2)
		pass(time.Second)
		require.EqualValues(t, 2, w.Last(5*time.Second).Count)
		require.EqualValues(t, 702, w.Last(time.Hour).Count)
	})
	run(func(c *Counter, w *window.Ring) {
		require.EqualValues(t, 702, c.Value())
		require.EqualValues(t, 702, w.Last(time.Hour).Count)
	})
}

func TestSnapshotOfWindowsReusesMemory(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, e *Engine) {
		for i := range 10 {
			c := e.Counter("views_total", "post", strconv.Itoa(i))
			_, err := e.Window(c, seconds)
			require.NoError(t, err)
			for range 60 {
				c.Inc()
				pass(time.Second)
			}
		}
		var s snapshot.Snapshot
		e.Snapshot(&s)
		require.Len(t, s.Windows, 10)
		var sum int64
		for _, w := range s.Windows {
			for _, r := range w.Rows {
				sum += r.Count
			}
		}
		assert.EqualValues(t, 600, sum)
		perWindow := testing.AllocsPerRun(20, func() { e.Snapshot(&s) }) / 10
		assert.Less(t, perWindow, 3.0)
	})
}

// TestNamedWindowsSurviveARestart: event-time counts and windows of uniques go on
// where the last run left them.
func TestNamedWindowsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	noon := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	hourly := window.EventsOptions{Resolution: time.Hour, Buckets: 48}
	perMinute := window.UniquesOptions{Resolution: time.Minute, Buckets: 60}
	for run := range 3 {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(24*time.Hour + time.Duration(run)*time.Minute)
			e, err := New(Options{Dir: dir})
			require.NoError(t, err)
			hits, err := e.Events("log_hits", hourly, "site", "a", "lang", "en")
			require.NoError(t, err)
			visitors, err := e.UniquesWindow("recent_visitors", perMinute)
			require.NoError(t, err)
			require.EqualValues(t, 5*run, hits.Last(24*time.Hour).Count)
			require.EqualValues(t, 10*run, visitors.Last(time.Hour).Count)

			hits.AddAt(noon.Add(time.Duration(run)*time.Hour), 5)
			for i := range 10 {
				visitors.AddString(strconv.Itoa(10*run + i))
			}
			hits.AddAt(time.Now().Add(48*time.Hour), 1) // the future counts apart
			require.EqualValues(t, 5*(run+1), hits.Last(24*time.Hour).Count)
			require.EqualValues(t, 10*(run+1), visitors.Last(time.Hour).Count)
			pass(time.Second)

			same, err := e.Events("log_hits", hourly, "lang", "en", "site", "a")
			require.NoError(t, err)
			require.Same(t, hits, same)
			var s snapshot.Snapshot
			e.Snapshot(&s)
			future := int64(-1)
			for _, c := range s.Counters {
				if c.Key.Name() == "hotcount_events_future_total" {
					future = c.Value
				}
			}
			require.EqualValues(t, 1, future)
			require.NoError(t, e.Close(t.Context()))
		})
	}
}

func TestNamedWindowsRefuse(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, e *Engine) {
		_, err := e.Events("hits", window.EventsOptions{})
		require.NoError(t, err)
		_, err = e.UniquesWindow("visitors", window.UniquesOptions{})
		require.NoError(t, err)
		_, err = e.Events("hits", window.EventsOptions{Lateness: time.Second})
		assert.ErrorIs(t, err, window.ErrOptions)
		_, err = e.UniquesWindow("visitors", window.UniquesOptions{Buckets: 3})
		assert.ErrorIs(t, err, window.ErrOptions)
		_, err = e.Events("other", window.EventsOptions{Resolution: -1})
		assert.ErrorIs(t, err, window.ErrOptions)
		_, err = e.UniquesWindow("another", window.UniquesOptions{Sampler: e.Sampler()})
		assert.ErrorIs(t, err, window.ErrOptions)
		assert.PanicsWithValue(t, "hotcount: hits is a events, not a counter", func() { e.Counter("hits") })
		assert.PanicsWithValue(t, "hotcount: visitors is a uniques window, not a events", func() {
			e.Events("visitors", window.EventsOptions{})
		})
	})
}

// TestWindowOfAParkedCounter: a counter that has left the engine comes back when
// it gets a window, and stays.
func TestWindowOfAParkedCounter(t *testing.T) {
	inBubble(t, Options{Limits: Limits{IdleAfter: time.Minute}}, func(t *testing.T, e *Engine) {
		c := e.Counter("views_total")
		c.Inc()
		var s snapshot.Snapshot
		sweep := func() {
			pass(2 * time.Minute)
			e.Snapshot(&s)
			e.Acknowledge(s.Seq)
		}
		for range 3 {
			sweep()
		}
		for range e.Totals() {
			t.Fatal("the counter has not left")
		}
		w, err := e.Window(c, seconds)
		require.NoError(t, err)
		for range 3 {
			sweep()
		}
		c.Add(2)
		pass(time.Second)
		assert.EqualValues(t, 2, w.Last(time.Minute).Count)
		e.Snapshot(&s)
		require.NotEmpty(t, s.Counters)
		assert.Equal(t, "views_total", s.Counters[0].Key.Name())
		assert.EqualValues(t, 2, s.Counters[0].Value)
	})
}

// A source of the program's own may make a series, which opens its window, while
// Close waits for it to be read.
func TestCloseWhileASourceMakesASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Options{})
		require.NoError(t, err)
		jobs := e.CounterVec("jobs_total", "queue")
		_, err = e.WindowVec(jobs, window.Options{})
		require.NoError(t, err)
		reads := 0
		w, err := window.New(window.SourceFunc(func() int64 {
			time.Sleep(time.Millisecond)
			reads++
			return jobs.With(strconv.Itoa(reads)).Value()
		}), window.Options{Sampler: e.Sampler()})
		require.NoError(t, err)
		defer w.Close()
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		synctest.Wait() // a tick is reading the source
		assert.NoError(t, e.Close(t.Context()))
		assert.Equal(t, 2, reads)
	})
}

// No goroutine starts after Close: a bubble does not end before its goroutines.
func TestWindowAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := New(Options{})
		require.NoError(t, err)
		require.NoError(t, e.Close(t.Context()))
		c := e.Counter("jobs_total")
		w, err := e.Window(c, window.Options{})
		require.NoError(t, err)
		c.Inc()
		assert.EqualValues(t, 1, w.Last(time.Hour).Count)
	})
}

// A counter that gets a window of its own stays, whether it had left already or
// had one from its family.
func TestWindowPinsItsCounter(t *testing.T) {
	inBubble(t, Options{Limits: Limits{IdleAfter: time.Minute}}, func(t *testing.T, e *Engine) {
		l := newLedger(t)
		parked, shared := e.Counter("parked_total"), e.CounterVec("jobs_total", "queue")
		evict(l, e, parked)
		_, err := e.WindowVec(shared, seconds)
		require.NoError(t, err)
		for _, c := range []*Counter{parked, shared.With("mail")} {
			_, err := e.Window(c, seconds)
			require.NoError(t, err)
		}
		l.export(e) // the parked one had a final row, and is back with none
		time.Sleep(time.Hour)
		l.export(e)
		l.export(e)
		assert.EqualValues(t, 2, e.live.Load())
	})
}
