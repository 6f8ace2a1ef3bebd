// Package enginetest has what the tests of all bridges ask of an engine.
package enginetest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// New returns an engine that is closed when the test ends.
func New(t testing.TB, o hotcount.Options) *hotcount.Engine {
	t.Helper()
	e, err := hotcount.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close(context.Background())) })
	return e
}

// FillKinds gives an engine a series of each kind.
func FillKinds(t testing.TB, e *hotcount.Engine) {
	t.Helper()
	jobs := e.Counter("jobs_total", "queue", "mail", "code", "200")
	_, err := e.Window(jobs, window.Options{})
	require.NoError(t, err)
	jobs.Add(7)
	e.Counter("clicks").Add(2)
	e.Counter("connections").Add(-3)
	e.Uniques("visitors", "site", "a").AddString("x")
	orders, err := e.Events("orders", window.EventsOptions{Resolution: time.Minute, Buckets: 60})
	require.NoError(t, err)
	orders.AddAt(time.Now(), 5)
	recent, err := e.UniquesWindow("recent", window.UniquesOptions{Resolution: time.Minute, Buckets: 60})
	require.NoError(t, err)
	recent.AddString("x")
}

// ParkedAfter retires a counter that look has seen and returns how many series
// are still alive once nobody else holds it. Whatever look reads with must be
// reachable until then.
func ParkedAfter(t testing.TB, e *hotcount.Engine, look func()) float64 {
	t.Helper()
	e.Counter("gone_total").Inc()
	look()
	e.Counter("gone_total").Delete()
	var s snapshot.Snapshot
	for range 2 { // it retires, and is evicted
		e.Snapshot(&s)
		e.Acknowledge(s.Seq)
	}
	runtime.GC()
	e.Snapshot(&s) // waits for finalizers
	for _, g := range s.Gauges {
		if g.Key.Name() == "hotcount_series_parked" {
			return g.Value
		}
	}
	t.Fatal("no hotcount_series_parked")
	return 0
}

// Monotone looks at an engine from two goroutines, beside writers, deletes and
// snapshots. look returns values by series and start time: none may fall.
func Monotone(t testing.TB, e *hotcount.Engine, look func() map[string]float64) {
	t.Helper()
	stop := churn(e)
	defer stop()
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			seen := make(map[string]float64)
			for range 20 {
				for id, n := range look() {
					if !assert.GreaterOrEqual(t, n, seen[id], id) {
						return
					}
					seen[id] = n
				}
			}
		})
	}
	readers.Wait()
}

// churn adds to counters and deletes them while snapshots are taken, until stop.
func churn(e *hotcount.Engine) (stop func()) {
	jobs := e.CounterVec("jobs_total", "queue")
	ctx, cancel := context.WithCancel(context.Background())
	var busy sync.WaitGroup
	for g := range 2 {
		busy.Go(func() {
			for i := g; ctx.Err() == nil; i++ {
				c := jobs.With(fmt.Sprint(i % 5))
				c.Inc()
				if i%97 == 0 {
					c.Delete()
				}
			}
		})
	}
	busy.Go(func() {
		var s snapshot.Snapshot
		for ctx.Err() == nil {
			e.Snapshot(&s)
			e.Acknowledge(s.Seq)
		}
	})
	return func() {
		cancel()
		busy.Wait()
	}
}
