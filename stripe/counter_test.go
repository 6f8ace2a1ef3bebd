package stripe

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layouts is every kind of counter; a property of one must hold for all.
var layouts = []struct {
	name string
	o    Options
}{
	{"adaptive", Options{}},
	{"one", Options{Stripes: 1}},
	{"perP", Options{Pick: PerP}},
	{"perGoroutine", Options{Stripes: 8, Pick: PerGoroutine}},
	{"random", Options{Stripes: 5, Pick: Random}},
}

func eachLayout(t *testing.T, f func(t *testing.T, c *Counter)) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			c, err := New(l.o)
			require.NoError(t, err)
			f(t, c)
		})
	}
}

// ledgerFor is how long a ledger stays open: long enough for every kind of
// step to meet every other many times, or what HOTCOUNT_LEDGER asks for
// ("2m"). Nothing that a test checks depends on it.
func ledgerFor(t *testing.T) time.Duration {
	d := 100 * time.Millisecond
	if s := os.Getenv("HOTCOUNT_LEDGER"); s != "" {
		var err error
		d, err = time.ParseDuration(s)
		require.NoError(t, err)
	}
	return d
}

// during calls f on n goroutines, again and again, until d is over, and
// returns when all have ended. f gets the number of its goroutine.
func during(d time.Duration, n int, f func(i int)) {
	var (
		done atomic.Bool
		wg   sync.WaitGroup
	)
	defer time.AfterFunc(d, func() { done.Store(true) }).Stop()
	for i := range n {
		wg.Go(func() {
			for ok := true; ok; ok = !done.Load() {
				f(i)
			}
		})
	}
	wg.Wait()
}

// 1. Conservation: what all drains took and what is left is what was added,
// with several drainers under full write load, while GOMAXPROCS changes.
func TestLedgerCloses(t *testing.T) {
	eachLayout(t, func(t *testing.T, c *Counter) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		const writers, drainers = 6, 3
		var added, drained [writers + drainers + 1]int64
		during(ledgerFor(t), writers+drainers+1, func(i int) {
			switch {
			case i < writers:
				for range 1000 {
					n := int64(rand.Uint64())
					c.Add(n)
					added[i] += n
				}
			case i < writers+drainers:
				drained[i] += c.Drain()
			default:
				runtime.GOMAXPROCS(1 + rand.IntN(9))
			}
		})
		var in, out int64
		for i := range added {
			in += added[i]
			out += drained[i]
		}
		assert.Equal(t, in, out+c.Value(), "drained and left, against added")
		rest := c.Value()
		assert.Equal(t, rest, c.Drain())
		assert.Zero(t, c.Value())
	})
}

// 2. Monotone: the values one reader sees never decrease, include all that had
// been added when it began, and never exceed what was ever begun.
func TestReaderNeverGoesBack(t *testing.T) {
	eachLayout(t, func(t *testing.T, c *Counter) {
		const writers, readers = 4, 2
		var (
			begun, counted atomic.Int64
			last           [writers + readers]int64
		)
		during(ledgerFor(t), writers+readers, func(i int) {
			if i < writers {
				n := int64(rand.IntN(5))
				begun.Add(n)
				c.Add(n)
				counted.Add(n)
				return
			}
			floor := counted.Load()
			v := c.Value()
			if ceiling := begun.Load(); v < last[i] || v < floor || v > ceiling {
				t.Errorf("read %d after %d, with %d counted before and %d begun", v, last[i], floor, ceiling)
			}
			last[i] = v
		})
		assert.Equal(t, counted.Load(), c.Value())
	})
}

// 3. A counter that writers fight over goes hot, whatever they add, and one
// that a single goroutine writes stays cold.
func TestGoesHotOnContention(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	for _, n := range []int64{1, -1, 16, 1 << 40, 0} {
		var quiet, busy Counter
		for range 10_000 {
			quiet.Add(n)
		}
		assert.False(t, quiet.Stats().Hot, "one writer adding %d", n)
		assert.Equal(t, 10_000*n, quiet.Stats().Cold)
		if n == 0 {
			continue // adding nothing changes nothing to be noticed
		}
		var (
			adds atomic.Int64
			wg   sync.WaitGroup
		)
		for range 4 {
			wg.Go(func() {
				for !busy.Stats().Hot {
					for range 1000 {
						busy.Add(n)
					}
					adds.Add(1000)
				}
			})
		}
		wg.Wait()
		assert.Equal(t, n*adds.Load(), busy.Value())
	}
}

// 4. Any number of Ps: a counter made for one P takes adds from many.
func TestMorePsThanStripes(t *testing.T) {
	procs := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(procs)
	c, err := New(Options{Pick: PerP})
	require.NoError(t, err)
	require.Len(t, c.Stats().Stripes, 1)
	runtime.GOMAXPROCS(8)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 1000 {
				c.Inc()
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 16_000, c.Value())
}

// 5. Int64 wraps.
func TestWraps(t *testing.T) {
	eachLayout(t, func(t *testing.T, c *Counter) {
		c.Add(math.MaxInt64)
		c.Inc()
		assert.Equal(t, int64(math.MinInt64), c.Value())
		c.Add(math.MinInt64)
		assert.Zero(t, c.Drain())
	})
}

func TestStats(t *testing.T) {
	c, err := New(Options{Stripes: 4})
	require.NoError(t, err)
	assert.Equal(t, Stats{Hot: true, Stripes: make([]int64, 4)}, c.Stats())
	table := c.hot.Load()
	for i := range 4 {
		table.at(i).Store(int64(i))
	}
	c.base.Store(7)
	assert.Equal(t, Stats{Hot: true, Cold: 7, Stripes: []int64{0, 1, 2, 3}, Skew: 2}, c.Stats())
	assert.EqualValues(t, 13, c.Value())
}
