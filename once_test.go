package hotcount

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newOnce(t *testing.T, window time.Duration, capacity int) (*Once, *Counter) {
	c := newEngine(t, Options{}).Counter("events_total")
	o, err := NewOnce(c, OnceOptions{Window: window, Capacity: capacity})
	require.NoError(t, err)
	return o, c
}

// While there is room, an id counts if and only if it did not count within the
// window before, to the nanosecond.
func TestOnceIsExactOverTheWindow(t *testing.T) {
	const window = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		o, c := newOnce(t, window, 1<<20)
		r := rand.New(rand.NewPCG(3, 4))
		last := map[string]time.Time{} // when each id counted
		var want int64
		for range 50_000 {
			if r.IntN(50) == 0 {
				time.Sleep(time.Duration(r.Int64N(int64(window / 4))))
			}
			id := strconv.Itoa(r.IntN(300))
			at, known := last[id]
			fresh := !known || time.Since(at) >= window
			require.Equal(t, fresh, o.AddOnce(id, 3), "id %s, counted %v ago", id, time.Since(at))
			if fresh {
				last[id] = time.Now()
				want += 3
			}
		}
		assert.Equal(t, want, c.Value())
		assert.Zero(t, o.Unguarded())
	})
}

func TestOnceWindowEndsToTheNanosecond(t *testing.T) {
	const window = time.Second
	synctest.Test(t, func(t *testing.T) {
		o, _ := newOnce(t, window, 1)
		time.Sleep(999_999) // within a millisecond, where truncation would tell
		assert.True(t, o.AddOnce("a", 1))
		time.Sleep(window - 1)
		assert.False(t, o.AddOnce("a", 1))
		time.Sleep(time.Nanosecond)
		assert.True(t, o.AddOnce("a", 1))
	})
}

// At capacity an event is never lost: it counts unguarded until the oldest ids
// expire, and not longer.
func TestOnceAtCapacity(t *testing.T) {
	const window, capacity = time.Minute, 100
	synctest.Test(t, func(t *testing.T) {
		o, c := newOnce(t, window, capacity)
		add := func(round string, want, unguarded int64) {
			before := o.Unguarded()
			for i := range capacity + 50 {
				assert.True(t, o.AddOnce(fmt.Sprint(round, i), 1))
			}
			assert.Equal(t, want, c.Value())
			assert.Equal(t, unguarded, o.Unguarded()-before)
			assert.LessOrEqual(t, o.remembered.Load(), int64(capacity))
		}
		add("a", 150, 50)
		for i := range capacity {
			assert.False(t, o.AddOnce(fmt.Sprint("a", i), 1), "remembered")
		}
		assert.True(t, o.AddOnce(fmt.Sprint("a", capacity), 1), "not remembered")
		time.Sleep(window - time.Millisecond)
		add("b", 301, 150)
		time.Sleep(time.Millisecond)
		add("c", 451, 50)
	})
}

// Of any number of goroutines that bring the same ids, one counts each, also
// while old ids expire.
func TestOnceUnderConcurrency(t *testing.T) {
	o, c := newOnce(t, time.Hour, 1<<20)
	const writers, ids = 8, 5_000
	var counted atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range ids {
				if o.AddOnce(strconv.Itoa((i+w*17)%ids), 2) {
					counted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, ids, counted.Load())
	assert.EqualValues(t, 2*ids, c.Value())
}

func TestOnceExpiresUnderConcurrency(t *testing.T) {
	const window, writers, steps = time.Second, 4, 2_000
	synctest.Test(t, func(t *testing.T) {
		o, c := newOnce(t, window, 1<<20)
		var mu sync.Mutex
		times := map[string][]time.Time{}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), 5))
				for range steps {
					id := strconv.Itoa(r.IntN(40))
					if o.AddOnce(id, 1) {
						mu.Lock()
						times[id] = append(times[id], time.Now())
						mu.Unlock()
					}
					time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		var n int64
		for id, at := range times {
			n += int64(len(at))
			for i := 1; i < len(at); i++ {
				assert.GreaterOrEqual(t, at[i].Sub(at[i-1]), window, id)
			}
		}
		assert.Equal(t, n, c.Value())
	})
}

// The memory of a full Once is what its documentation says, and does not grow
// as ids come and go. The capacity is where maps have just grown: others need
// less for each id.
func TestOnceMemory(t *testing.T) {
	const capacity, window, documented = 220_000, time.Hour, 80
	synctest.Test(t, func(t *testing.T) {
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		o, _ := newOnce(t, window, capacity)
		var most uint64
		for i := range 3 * capacity {
			o.AddOnce(strconv.Itoa(i), 1)
			if i%capacity == capacity-1 {
				most = max(most, heap()-before)
				time.Sleep(window / 2) // half of them stay
			}
		}
		perID := float64(most) / capacity
		t.Logf("%.0f bytes an id", perID)
		assert.LessOrEqual(t, perID, float64(documented))
		runtime.KeepAlive(o)
	})
}

func TestNewOnceRefuses(t *testing.T) {
	c := newEngine(t, Options{}).Counter("events_total")
	for _, bad := range []struct {
		c *Counter
		o OnceOptions
	}{
		{nil, OnceOptions{Window: time.Second, Capacity: 1}},
		{c, OnceOptions{Window: time.Microsecond, Capacity: 1}},
		{c, OnceOptions{Window: -1, Capacity: 1}},
		{c, OnceOptions{Window: time.Second}},
		{c, OnceOptions{Window: time.Second, Capacity: -1}},
	} {
		_, err := NewOnce(bad.c, bad.o)
		assert.ErrorContains(t, err, "hotcount: ")
	}
}
