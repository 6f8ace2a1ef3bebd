package live

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
)

// What has left the engine is forgotten with the next view, however many series
// come and go while somebody looks.
func TestRatesForgetWhatIsGone(t *testing.T) {
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	var r rates
	var v hotcount.View
	var s snapshot.Snapshot
	for i := range 50 {
		c := e.Counter("jobs_total", "id", strconv.Itoa(i))
		c.Inc()
		e.View(&v)
		r.update(&v)
		c.Delete()
		e.Snapshot(&s)
		assert.LessOrEqual(t, len(r.seen), 2)
	}
	require.NoError(t, e.Close(context.Background()))
}

// A series that left and came back between two views counts from zero: its rate
// is that of its new life, and never negative.
func TestRatesOfANewLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := hotcount.New(hotcount.Options{})
		require.NoError(t, err)
		c := e.Counter("jobs_total")
		c.Add(1000)
		var r rates
		var v hotcount.View
		var s snapshot.Snapshot
		e.View(&v)
		r.update(&v)

		time.Sleep(time.Second)
		c.Delete()
		e.Snapshot(&s)
		e.Acknowledge(s.Seq)
		c.Add(5)
		e.Snapshot(&s) // it is back
		e.View(&v)
		r.update(&v)
		require.Len(t, r.perSecond, 1)
		assert.InDelta(t, 5, r.perSecond[0], 1e-9)
		require.NoError(t, e.Close(context.Background()))
	})
}
