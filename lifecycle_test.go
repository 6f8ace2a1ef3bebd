package hotcount

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

// evict makes a series leave the index.
func evict(l *ledger, e *Engine, c *Counter) {
	c.Delete()
	l.export(e) // dormant
	l.export(e) // parked
}

func TestDeletedSeriesComesBackFromZeroAndLater(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("jobs_total", "queue", "mail")
	key := c.Key().String()
	c.Add(7)
	first, _ := counterRow(l.export(e), key)
	evict(l, e, c)
	assert.Zero(t, c.Value())
	s := l.export(e)
	assert.Empty(t, s.Final)
	_, found := counterRow(s, key)
	assert.False(t, found)

	c.Add(5)
	assert.EqualValues(t, 5, c.Value())
	again, found := counterRow(l.export(e), key)
	assert.True(t, found)
	assert.EqualValues(t, 5, again.Value)
	assert.Greater(t, again.Created, first.Created)
	assert.Same(t, c, e.Counter("jobs_total", "queue", "mail"), "a held handle keeps its name")
	assert.EqualValues(t, 12, l.total(c))
}

// A series made anew within the second in which another of its name left must
// not take over that one's row.
func TestRowsOfOneKeyAreNeverCreatedTogether(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	const lives = 5
	for range lives {
		func() {
			c := e.Counter("jobs_total")
			c.Inc()
			evict(l, e, c)
		}()
		for e.parked.len() > 0 { // until the handle is collected
			runtime.GC()
		}
	}
	assert.Equal(t, lives, l.rowsOf("jobs_total"))
	assert.EqualValues(t, lives, l.totals()["jobs_total"])
}

// To delete what is deleted already is nothing that adds made after the next
// snapshot would have to bear.
func TestDeleteOfADeletedSeriesIsForgotten(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("jobs_total")
	c.Inc()
	c.Delete()
	l.sweep(e) // dormant

	c.Delete()
	l.sweep(e)
	c.Add(2)
	l.sweep(e)
	assert.EqualValues(t, 2, c.Value(), "back from dormant")

	evict(l, e, c)
	c.Delete()
	l.export(e)
	c.Add(3)
	l.export(e)
	assert.EqualValues(t, 3, c.Value(), "back from parked")
	assert.EqualValues(t, 6, l.total(c))
}

// A Delete that comes while a sweep is on its way counts in the next one, with the
// add before it.
func TestDeleteBesideASweepIsKept(t *testing.T) {
	e := newEngine(t, Options{})
	c := e.Counter("jobs_total")
	var sweeps atomic.Int64
	var done atomic.Bool
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		var s snapshot.Snapshot
		for !done.Load() {
			e.Snapshot(&s)
			e.Acknowledge(s.Seq)
			sweeps.Add(1)
			runtime.Gosched() // so that one core suffices
		}
	})
	defer sweeping.Wait()
	defer done.Store(true)
	for round := range 10_000 {
		c.Inc()
		c.Delete()
		// The first of two may have begun before.
		for end := sweeps.Load() + 2; sweeps.Load() < end; {
			runtime.Gosched()
		}
		m := (*entry)(c).more.Load()
		require.True(t, m != nil && m.retired != 0, "round %d", round)
	}
}

// A final row stays in every snapshot until it is acknowledged, while its series
// lives on, retires again, and so has two final rows at a time.
func TestRetiredTwiceBeforeAcknowledged(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("jobs_total")
	var seqs []uint64
	for i := range 3 {
		c.Add(int64(i + 1))
		c.Delete()
		s := l.sweep(e)
		assert.Len(t, s.Final, i+1)
		seqs = append(seqs, s.Seq)
	}
	for i, seq := range seqs {
		e.Acknowledge(seq)
		assert.Len(t, l.sweep(e).Final, len(seqs)-1-i)
	}
	assert.Equal(t, 1, e.parked.len())
	assert.Zero(t, e.live.Load())
	assert.EqualValues(t, 1+2+3, l.total(c))
}

func TestHandleSleepsThroughSweepsAndCollections(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	held := make([]*Counter, 50)
	for i := range held {
		held[i] = e.Counter("jobs_total", "n", strconv.Itoa(i))
		held[i].Inc()
		held[i].Delete()
	}
	for range 10 {
		l.export(e)
		runtime.GC()
	}
	require.Equal(t, len(held), e.parked.len())
	assert.Zero(t, e.live.Load())
	for i, c := range held {
		c.Add(int64(i))
	}
	l.sweep(e)
	for i, c := range held {
		assert.EqualValues(t, 1+i, l.total(c))
	}
	assert.Zero(t, e.parked.len()-1, "only the one that was added 0 to is still parked")
}

func TestLookUpBringsParkedSeriesBack(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("jobs_total")
	c.Inc()
	evict(l, e, c)
	assert.Same(t, c, e.Counter("jobs_total"))
	assert.Zero(t, e.parked.len())
	assert.Empty(t, e.parked.series, "nothing is left behind")
	l.export(e) // nobody added to it: it leaves again
	assert.Equal(t, 1, e.parked.len())
	assert.EqualValues(t, 1, l.total(c))
}

func TestAcknowledgingTheFutureIsNoPermit(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	c := e.Counter("jobs_total")
	e.Acknowledge(1 << 40)
	c.Inc()
	c.Delete()
	l.sweep(e)
	assert.Len(t, l.sweep(e).Final, 1)
}

func TestOverflowAndUniquesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := newEngine(t, Options{Limits: Limits{FamilySeries: 1, IdleAfter: time.Second}}), newLedger(t)
		e.Counter("jobs_total", "queue", "a").Inc()
		overflow := e.Counter("jobs_total", "queue", "b")
		overflow.Inc()
		overflow.Delete()
		u := e.Uniques("users")
		u.AddString("x")
		for range 5 {
			time.Sleep(time.Minute)
			l.export(e)
		}
		s := l.export(e)
		_, found := counterRow(s, `jobs_total{hotcount_overflow="true"}`)
		assert.True(t, found)
		assert.Len(t, s.Uniques, 1)
		_, found = counterRow(s, `jobs_total{queue="a"}`)
		assert.False(t, found)
	})
}

// An idle series leaves after IdleAfter, not before, and at most two seconds
// and a sweep later.
func TestIdleSeriesLeaves(t *testing.T) {
	const idleAfter, every = 30 * time.Second, time.Second
	synctest.Test(t, func(t *testing.T) {
		e, l := newEngine(t, Options{Limits: Limits{IdleAfter: idleAfter}}), newLedger(t)
		time.Sleep(300 * time.Millisecond) // apart from the engine's seconds
		idle, busy := e.Counter("idle_total"), e.Counter("busy_total")
		idle.Inc()
		began := time.Now()
		l.export(e)
		for {
			time.Sleep(every)
			busy.Inc()
			s := l.export(e)
			if _, live := counterRow(s, "idle_total"); !live {
				break
			}
			require.Less(t, time.Since(began), 2*idleAfter)
		}
		took := time.Since(began)
		assert.GreaterOrEqual(t, took, idleAfter)
		assert.LessOrEqual(t, took, idleAfter+2*time.Second+every)
		l.export(e)
		assert.Equal(t, 1, e.parked.len())

		time.Sleep(1000 * time.Hour)
		idle.Add(2)
		l.export(e)
		assert.EqualValues(t, 3, l.total(idle))
		assert.Equal(t, 2, l.rowsOf("idle_total"))
		assert.EqualValues(t, 1, e.live.Load()-1, "busy and idle")
	})
}

// A series made while a sweep runs, and so younger than the sweep, is not idle.
func TestYoungerThanTheSweepIsNotIdle(t *testing.T) {
	e := newEngine(t, Options{Limits: Limits{IdleAfter: time.Second}})
	c := (*entry)(e.Counter("jobs_total"))
	c.active.Store(5)
	assert.False(t, e.expired(c, false, 4))
	assert.False(t, e.expired(c, false, 6))
	assert.True(t, e.expired(c, false, 7))
}

// leave runs f and returns once what only f held has been collected.
func leave(e *Engine, f func()) {
	f()
	for e.parked.len() > 0 {
		runtime.GC()
	}
}

// A dropped handle's last adds are brought back by the finalizer.
func TestLastRitesBringTheSeriesBack(t *testing.T) {
	e, l := newEngine(t, Options{}), newLedger(t)
	leave(e, func() {
		c := e.Counter("jobs_total")
		c.Add(3)
		evict(l, e, c)
		c.Add(4)
	})
	assert.EqualValues(t, 1, e.live.Load(), "back in the index before any sweep")
	l.sweep(e)
	assert.EqualValues(t, 3+4, l.totals()["jobs_total"])
	assert.Equal(t, 2, l.rowsOf("jobs_total"))
}

// holdFinalizers keeps all finalizers of the process waiting until the function
// that it returns is called.
func holdFinalizers() (release func()) {
	held, holding := make(chan struct{}), make(chan struct{})
	func() {
		runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(holding); <-held })
	}()
	for {
		runtime.GC()
		select {
		case <-holding:
			return func() { close(held) }
		default:
		}
	}
}

// If the name has been taken meanwhile, the last adds go to its new bearer,
// whether that is in the index or parked itself.
func TestLastRitesFindAnHeir(t *testing.T) {
	for _, evicted := range []bool{false, true} {
		t.Run("heir parked="+strconv.FormatBool(evicted), func(t *testing.T) {
			e, l := newEngine(t, Options{}), newLedger(t)
			release := holdFinalizers()
			func() {
				c := e.Counter("jobs_total")
				c.Add(1)
				evict(l, e, c)
				c.Add(2)
			}()
			for alive := 1; alive > 0; {
				runtime.GC()
				a, _ := e.parked.census(nil)
				alive = len(a)
			}
			heir := e.Counter("jobs_total")
			heir.Add(4)
			if evicted { // without Snapshot, which waits for the rites
				e.mu.Lock()
				heirs := (*entry)(heir)
				var s snapshot.Snapshot
				heir.Delete()
				e.sweep.seq++
				s.Seq = e.sweep.seq
				e.visit(heirs, &s, e.age())
				e.evict(heirs)
				e.mu.Unlock()
			}
			release()
			l.sweep(e)
			assert.EqualValues(t, 1+2+4, l.total(heir))
		})
	}
}

// Close waits for the last rites of handles that were dropped before.
func TestCloseWaitsForLastRites(t *testing.T) {
	l := newLedger(t)
	e, err := New(Options{Sinks: []export.Sink{l}, Interval: time.Hour})
	require.NoError(t, err)
	release := holdFinalizers()
	func() {
		c := e.Counter("jobs_total")
		c.Add(3)
		c.Delete()
		require.NoError(t, e.Flush(t.Context()))
		require.NoError(t, e.Flush(t.Context()))
		require.Equal(t, 1, e.parked.len())
		c.Add(4)
	}()
	runtime.GC()
	closed := make(chan error)
	go func() { closed <- e.Close(t.Context()) }()
	release()
	require.NoError(t, <-closed)
	assert.EqualValues(t, 3+4, l.totals()["jobs_total"])
}
