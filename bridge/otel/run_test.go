package otel_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/otel"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/snapshot"
)

// A second run begins at 0 with a later start time, whatever it restored. Through
// a Meter it begins at 0 as well.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		run := func(add int64) (produced, registered value) {
			e, err := hotcount.New(hotcount.Options{Dir: dir})
			require.NoError(t, err)
			e.Counter("jobs_total").Add(add)
			produced = collect(t, readerOf(t, e, otel.Options{}))["jobs_total"]
			p, r := newMeter(t)
			_, err = otel.Register(p.Meter("shop"), e, otel.Options{})
			require.NoError(t, err)
			registered = collect(t, r)["jobs_total"]
			require.NoError(t, e.Close(context.Background()))
			return produced, registered
		}
		first, firstByMeter := run(7)
		assert.EqualValues(t, 7, first.n)
		assert.EqualValues(t, 7, firstByMeter.n)
		assert.Equal(t, time.Now().Unix(), first.start.Unix())
		time.Sleep(time.Hour)
		second, secondByMeter := run(5)
		assert.EqualValues(t, 5, second.n)
		assert.EqualValues(t, 5, secondByMeter.n)
		assert.Equal(t, first.start.Add(time.Hour).Unix(), second.start.Unix())
	})
}

// A series that was retired is not shown, and comes back from 0 with a later start
// time.
func TestRetireAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, hotcount.Options{})
		export := func() {
			var s snapshot.Snapshot
			e.Snapshot(&s)
			e.Acknowledge(s.Seq)
		}
		r := readerOf(t, e, otel.Options{})
		p, byMeter := newMeter(t)
		c := e.Counter("jobs_total")
		_, err := otel.Register(p.Meter("shop"), e, otel.Options{})
		require.NoError(t, err)
		c.Add(7)
		first := collect(t, r)["jobs_total"]
		assert.EqualValues(t, 7, first.n)
		assert.EqualValues(t, 7, collect(t, byMeter)["jobs_total"].n)

		c.Delete()
		export()
		assert.Empty(t, collect(t, r))
		assert.Empty(t, collect(t, byMeter))
		time.Sleep(time.Minute)
		c.Add(2)
		assert.Empty(t, collect(t, r), "it has no row before a snapshot")
		export()
		second := collect(t, r)["jobs_total"]
		assert.EqualValues(t, 2, second.n)
		assert.True(t, second.start.After(first.start))
		assert.EqualValues(t, 2, collect(t, byMeter)["jobs_total"].n)
	})
}

// Beside writers, deletes, snapshots and other readers, no series falls while its
// start time is the same.
func TestMonotoneBesideWriters(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	r := readerOf(t, e, otel.Options{})
	p, byMeter := newMeter(t)
	_, err := otel.Register(p.Meter("shop"), e, otel.Options{})
	require.NoError(t, err)
	enginetest.Monotone(t, e, func() map[string]float64 {
		collect(t, byMeter)
		values := make(map[string]float64)
		for name, v := range collect(t, r) {
			values[fmt.Sprint(name, v.start.UnixNano())] = v.n
		}
		return values
	})
}
