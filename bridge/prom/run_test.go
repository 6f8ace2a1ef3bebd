package prom_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
	"github.com/hotcount/hotcount/snapshot"
)

func createdOf(m *dto.Metric) time.Time { return m.GetCounter().GetCreatedTimestamp().AsTime() }

// A second run begins at 0 with a later created timestamp, whatever it restored.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		scrape := func(add int64) *dto.Metric {
			e, err := hotcount.New(hotcount.Options{Dir: dir})
			require.NoError(t, err)
			c := e.Counter("jobs_total")
			c.Add(add)
			m := gather(t, registryOf(t, prom.New(e, prom.Options{})))["jobs_total"]
			require.NoError(t, e.Close(context.Background()))
			return m
		}
		first := scrape(7)
		assert.EqualValues(t, 7, value(first))
		assert.Equal(t, time.Now().Unix(), createdOf(first).Unix())
		time.Sleep(time.Hour)
		second := scrape(5)
		assert.EqualValues(t, 5, value(second))
		assert.Equal(t, createdOf(first).Add(time.Hour).Unix(), createdOf(second).Unix())
	})
}

// A series that was retired is not shown, and comes back from 0 with a later
// created timestamp.
func TestRetireAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, hotcount.Options{})
		export := func() {
			var s snapshot.Snapshot
			e.Snapshot(&s)
			e.Acknowledge(s.Seq)
		}
		r := registryOf(t, prom.New(e, prom.Options{}))
		c := e.Counter("jobs_total")
		c.Add(7)
		first := gather(t, r)["jobs_total"]
		require.NotNil(t, first)

		c.Delete()
		export()
		assert.Nil(t, gather(t, r)["jobs_total"])
		time.Sleep(time.Minute)
		c.Add(2)
		assert.Nil(t, gather(t, r)["jobs_total"], "it has no row before a snapshot")
		export()
		second := gather(t, r)["jobs_total"]
		assert.EqualValues(t, 2, value(second))
		assert.True(t, createdOf(second).After(createdOf(first)))
	})
}

// A scrape holds on to nothing: what left the engine is not kept alive for the
// next one, and the engine's next snapshot is the one it would have been.
func TestScrapeLeavesNoTrace(t *testing.T) {
	e := newEngine(t, hotcount.Options{})
	e.Counter("jobs_total").Add(7)
	r := registryOf(t, prom.New(e, prom.Options{}))
	var s snapshot.Snapshot
	e.Snapshot(&s)
	for range 3 {
		gather(t, r)
	}
	seq := s.Seq
	e.Snapshot(&s)
	assert.Equal(t, seq+1, s.Seq)
	assert.Zero(t, parkedAfter(t, e, func() { gather(t, r) }))
	runtime.KeepAlive(r)
}

// parkedAfter retires a counter that a scrape has seen and returns how many
// series are still alive once nobody else holds it.
func parkedAfter(t *testing.T, e *hotcount.Engine, look func()) float64 {
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

// Beside writers, deletes, snapshots and other scrapes, no series falls while its
// created timestamp is the same.
func TestMonotoneBesideWriters(t *testing.T) {
	e := newEngine(t, hotcount.Options{})
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
	r := registryOf(t, prom.New(e, prom.Options{}))
	var scrapers sync.WaitGroup
	for range 2 {
		scrapers.Go(func() {
			seen := make(map[string]float64)
			for range 20 {
				families, err := r.Gather()
				if !assert.NoError(t, err) {
					return
				}
				for name, m := range seriesOf(families) {
					id := fmt.Sprint(name, createdOf(m).UnixNano())
					if !assert.GreaterOrEqual(t, value(m), seen[id], id) {
						return
					}
					seen[id] = value(m)
				}
			}
		})
	}
	scrapers.Wait()
	cancel()
	busy.Wait()
}
