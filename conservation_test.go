package hotcount

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hotcount/hotcount/snapshot"
)

// Whatever runs at the same time, each key's rows add up to what was added to
// it: look-ups, adds through handles old and new, dropped handles, deletion,
// eviction, collection.
func TestConservation(t *testing.T) {
	t.Run("keys apart", func(t *testing.T) { testConservation(t, newEngine(t, Options{})) })
	t.Run("all keys collide", func(t *testing.T) {
		e := newEngine(t, Options{})
		collide(e)
		testConservation(t, e)
	})
}

func testConservation(t *testing.T, e *Engine) {
	const (
		keys    = 24
		writers = 4
		steps   = 4_000
		holds   = 4 // handles that each writer keeps
	)
	var added [keys]atomic.Int64
	vec := e.CounterVec("added_total", "key")
	write := func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		var held [holds]struct {
			c   *Counter
			key int
		}
		for range steps {
			h := &held[r.IntN(holds)]
			if h.c == nil || r.IntN(8) == 0 { // drop one handle, look up another
				h.key = r.IntN(keys)
				h.c = vec.With(strconv.Itoa(h.key))
			}
			n := r.Int64N(7) - 2
			h.c.Add(n)
			added[h.key].Add(n)
			if r.IntN(16) == 0 {
				h.c.Delete()
			}
		}
	}

	l := newLedger(t)
	var writing, sweeping sync.WaitGroup
	var done atomic.Bool
	for w := range writers {
		writing.Go(func() { write(uint64(w)) })
	}
	sweeping.Go(func() {
		var s snapshot.Snapshot
		for i := 0; !done.Load(); i++ {
			e.Snapshot(&s)
			assert.NoError(t, l.Write(t.Context(), &s))
			if i%3 != 0 {
				e.Acknowledge(s.Seq)
			}
			if i%4 == 0 {
				runtime.GC()
			}
			for range e.Totals() { // reads while all else goes on
			}
		}
	})
	writing.Wait()
	done.Store(true)
	sweeping.Wait()
	l.sweep(e)

	totals := l.totals()
	for k := range keys {
		key := vec.With(strconv.Itoa(k)).Key().String()
		assert.Equal(t, added[k].Load(), totals[key], key)
	}
}
