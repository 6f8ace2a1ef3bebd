package hotcount

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// rowsOfView returns what a snapshot's Counters are but for the engine's own.
func rowsOfView(v *View) map[rowID]int64 {
	rows := make(map[rowID]int64)
	for _, c := range v.Counters {
		rows[rowID{key: c.Key().String(), created: c.Created.UnixNano()}] = c.Run
	}
	return rows
}

func rowsOfSnapshot(s *snapshot.Snapshot) map[rowID]int64 {
	rows := make(map[rowID]int64)
	for _, r := range s.Counters {
		if !IsHealth(r.Key) {
			rows[rowID{key: r.Key.String(), created: r.Created}] = r.Value
		}
	}
	return rows
}

// A view after a snapshot shows what that holds, whatever happened before, and
// leaves no trace: it takes no seq, retires nothing, brings nothing back.
func TestViewShowsWhatASnapshotHolds(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		e, l := newEngine(t, Options{}), newLedger(t)
		jobs := e.CounterVec("jobs_total", "queue")
		var v View
		for range 300 {
			c := jobs.With(fmt.Sprint(r.IntN(8)))
			switch r.IntN(6) {
			case 0:
				c.Delete()
			case 1:
				l.export(e)
			case 2:
				e.View(&v)
			default:
				c.Add(r.Int64N(9) - 2)
			}
		}
		s := l.sweep(e)
		e.View(&v)
		require.Equal(t, rowsOfSnapshot(s), rowsOfView(&v), "seed %d", seed)
		require.Equal(t, s.Seq+1, l.sweep(e).Seq, "seed %d", seed)
	}
}

// A series that has left and was added to since has no row until the next
// snapshot gives it one: a Created that a later one contradicts would make a
// scraper count twice.
func TestViewWaitsForTheRowOfASeriesThatComesBack(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("jobs_total")
	c.Inc()
	c.Delete()
	l.export(e)
	c.Add(5)
	var v View
	e.View(&v)
	assert.Empty(t, v.Counters)
	l.export(e)
	e.View(&v)
	require.Len(t, v.Counters, 1)
	assert.EqualValues(t, 5, v.Counters[0].Run)
}

func TestViewKeepsRunsApart(t *testing.T) {
	dir := t.TempDir()
	run(t, Options{Dir: dir}, func(e *Engine) { e.Counter("jobs_total").Add(7) })
	run(t, Options{Dir: dir}, func(e *Engine) {
		e.Counter("jobs_total").Add(5)
		var v View
		e.View(&v)
		require.Len(t, v.Counters, 1)
		assert.EqualValues(t, 5, v.Counters[0].Run)
		assert.EqualValues(t, 12, v.Counters[0].Value())
	})
}

func TestViewHasWindowsAndUniques(t *testing.T) {
	e := newEngine(t, Options{})
	c := e.Counter("jobs_total")
	e.Counter("others_total").Inc()
	ring, err := e.Window(c, window.Options{})
	require.NoError(t, err)
	events, err := e.Events("orders", window.EventsOptions{Resolution: time.Minute, Buckets: 60})
	require.NoError(t, err)
	recent, err := e.UniquesWindow("visitors_recent", window.UniquesOptions{Resolution: time.Minute, Buckets: 60})
	require.NoError(t, err)
	visitors := e.Uniques("visitors")

	var v View
	e.View(&v)
	require.Len(t, v.Counters, 2)
	for _, shown := range v.Counters {
		if shown.Counter == c {
			assert.Same(t, ring, shown.Window)
		} else {
			assert.Nil(t, shown.Window)
		}
	}
	assert.Equal(t, []*Uniques{visitors}, v.Uniques)
	require.Len(t, v.Events, 1)
	assert.Same(t, events, v.Events[0].Events)
	assert.Equal(t, "orders", v.Events[0].Key.String())
	require.Len(t, v.UniquesWindows, 1)
	assert.Same(t, recent, v.UniquesWindows[0].Uniques)
}

// The engine's own series are those of the last snapshot but for the time of
// day, also when views come between.
func TestViewHasTheHealthOfTheLastSnapshot(t *testing.T) {
	e := newEngine(t, Options{})
	e.Counter("jobs_total").Add(3)
	var s snapshot.Snapshot
	e.Snapshot(&s)
	e.Counter("jobs_total").Add(3)
	e.Snapshot(&s)
	var v View
	for range 2 {
		e.View(&v)
		assert.ElementsMatch(t, s.Gauges, v.Gauges)
		assert.ElementsMatch(t, s.Counters[1:], v.Health) // the first is jobs_total
	}
}

func TestWarmViewAllocatesAConstant(t *testing.T) {
	allocs := func(series int) float64 {
		e := newEngine(t, Options{})
		for i := range series {
			e.Counter("views_total", "post", fmt.Sprint(i)).Inc()
		}
		var v View
		return testing.AllocsPerRun(10, func() { e.View(&v) })
	}
	assert.LessOrEqual(t, allocs(10_000), allocs(100)+20)
}

func BenchmarkView(b *testing.B) {
	e, err := New(Options{})
	require.NoError(b, err)
	const series = 9_000
	for i := range series {
		e.Counter("views_total", "post", fmt.Sprint(i)).Inc()
	}
	var v View
	e.View(&v)
	for b.Loop() {
		e.View(&v)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/series, "ns/series")
}

// A view that is filled again holds on to nothing of before, beyond its length
// neither.
func TestViewLetsGo(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	var v View
	for i := range 100 {
		e.Counter("gone_total", "i", fmt.Sprint(i)).Inc()
	}
	e.View(&v)
	for i := range 100 {
		e.Counter("gone_total", "i", fmt.Sprint(i)).Delete()
	}
	for range 2 { // they retire, and are evicted
		l.export(e)
	}
	e.View(&v)
	runtime.GC()
	l.export(e) // waits for finalizers
	assert.Zero(t, e.parked.len())
	runtime.KeepAlive(&v)
}
