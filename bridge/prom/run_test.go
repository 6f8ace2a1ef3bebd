package prom_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
	"github.com/hotcount/hotcount/internal/enginetest"
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
		e := enginetest.New(t, hotcount.Options{})
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
	e := enginetest.New(t, hotcount.Options{})
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
	assert.Zero(t, enginetest.ParkedAfter(t, e, func() { gather(t, r) }))
	runtime.KeepAlive(r)
}

// Beside writers, deletes, snapshots and other scrapes, no series falls while its
// created timestamp is the same.
func TestMonotoneBesideWriters(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	r := registryOf(t, prom.New(e, prom.Options{}))
	enginetest.Monotone(t, e, func() map[string]float64 {
		families, err := r.Gather()
		assert.NoError(t, err)
		values := make(map[string]float64)
		for name, m := range seriesOf(families) {
			values[fmt.Sprint(name, createdOf(m).UnixNano())] = value(m)
		}
		return values
	})
}
