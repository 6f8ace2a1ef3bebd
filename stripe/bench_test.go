package stripe

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// adder is what the benchmarks compare. Each makes the memory and returns the
// loop over it, so that no call through an interface is in what is timed.
type adder struct {
	name string
	make func() func(n int)
}

// alone keeps what a benchmark writes off everybody else's lines.
type alone[T any] struct {
	_ [lineSize]byte
	v T
	_ [lineSize]byte
}

func mustNew(o Options) *Counter {
	c, err := New(o)
	if err != nil {
		panic(err)
	}
	return c
}

func loopOf(o Options) func() func(int) {
	return func() func(int) {
		c := mustNew(o)
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}
}

var adders = []adder{
	{"atomic", func() func(int) {
		a := new(alone[atomic.Int64])
		return func(n int) {
			for range n {
				a.v.Add(1)
			}
		}
	}},
	{"mutex", func() func(int) {
		a := new(alone[struct {
			sync.Mutex
			n int64
		}])
		return func(n int) {
			for range n {
				a.v.Lock()
				a.v.n++
				a.v.Unlock()
			}
		}
	}},
	{"counter", func() func(int) {
		a := new(alone[Counter])
		return func(n int) {
			for range n {
				a.v.Inc()
			}
		}
	}},
	{"perP", loopOf(Options{Pick: PerP})},
	{"perGoroutine", loopOf(Options{Pick: PerGoroutine})},
	{"random", loopOf(Options{Pick: Random})},
	{"local", func() func(int) {
		c := new(Counter)
		return func(n int) {
			l := c.Local(localLimit)
			for range n {
				l.Inc()
			}
			l.Flush()
		}
	}},
}

// totalEvery is how old the benchmarked Total may be: what a page that shows it
// would ask for.
const totalEvery = 100 * time.Millisecond

// localLimit is the lag that the benchmarked Local is allowed: a thousandth of
// what a busy counter sees in a second.
const localLimit = 1000

// BenchmarkCold is one goroutine on a counter that nobody else writes.
func BenchmarkCold(b *testing.B) {
	b.Run("impl=atomic", func(b *testing.B) {
		a := &new(alone[atomic.Int64]).v
		for b.Loop() {
			a.Add(1)
		}
	})
	b.Run("impl=counter", func(b *testing.B) {
		c := &new(alone[Counter]).v
		for b.Loop() {
			c.Add(1)
		}
	})
	b.Run("impl=local", func(b *testing.B) {
		l := new(Counter).Local(localLimit)
		for b.Loop() {
			l.Add(1)
		}
	})
}

// BenchmarkAdd is one counter under one goroutine for each P.
func BenchmarkAdd(b *testing.B) {
	for _, a := range adders {
		b.Run("impl="+a.name, func(b *testing.B) {
			loop := a.make()
			parallel(b.N, loop)
		})
	}
}

// parallel runs loop total times in all, on a goroutine for each P. It does what
// b.RunParallel does without a call after each add, which would cost as much
// as the add.
func parallel(total int, loop func(n int)) {
	procs := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for p := range procs {
		wg.Go(func() { loop((total + p) / procs) })
	}
	wg.Wait()
}

// BenchmarkChurn is 4,096 goroutines that add a few times, sleep on a channel,
// and go on: each adds from wherever it wakes up.
func BenchmarkChurn(b *testing.B) {
	const goroutines, adds = 4096, 16
	for _, a := range adders {
		if a.name == "local" || a.name == "mutex" {
			continue
		}
		b.Run("impl="+a.name, func(b *testing.B) {
			loop := a.make()
			wake := make(chan struct{}, goroutines)
			var wg sync.WaitGroup
			for range goroutines {
				wg.Go(func() {
					for range wake {
						loop(adds)
					}
				})
			}
			b.ResetTimer()
			for range b.N {
				wake <- struct{}{}
			}
			close(wake)
			wg.Wait()
		})
	}
}

// BenchmarkGroup is one update of four counts.
func BenchmarkGroup(b *testing.B) {
	b.Run("impl=group", func(b *testing.B) {
		g := NewGroup(4)
		parallel(b.N, func(n int) {
			for range n {
				g.Add(1, 2, 3, 4)
			}
		})
	})
	b.Run("impl=counters", func(b *testing.B) {
		var cs [4]*Counter
		for i := range cs {
			cs[i] = mustNew(Options{Pick: PerP})
		}
		parallel(b.N, func(n int) {
			for range n {
				for i, c := range cs {
					c.Add(int64(i + 1))
				}
			}
		})
	})
	b.Run("impl=atomics", func(b *testing.B) {
		a := new(alone[[4]atomic.Int64])
		parallel(b.N, func(n int) {
			for range n {
				for i := range a.v {
					a.v[i].Add(int64(i + 1))
				}
			}
		})
	})
}

// series is laid out as the engine lays out its own: a counter first, in an
// object of 64 bytes.
type series struct {
	Counter
	_ [64 - unsafe.Sizeof(Counter{})]byte
}

// BenchmarkNeighbours is two counters made one after the other, each under a
// goroutine of its own, beside one counter under one goroutine.
func BenchmarkNeighbours(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run("counters="+strconv.Itoa(n), func(b *testing.B) {
			cs := make([]*series, n)
			for i := range cs {
				cs[i] = new(series)
			}
			var wg sync.WaitGroup
			for _, c := range cs {
				wg.Go(func() {
					for range b.N {
						c.Inc()
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds()/1e6, "Madds/s")
		})
	}
}

// BenchmarkReader is one writer with a reader in a loop beside it; what is
// timed is the writer.
func BenchmarkReader(b *testing.B) {
	readers := []struct {
		name string
		of   func(c *Counter) func() int64
	}{
		{"none", nil},
		{"value", func(c *Counter) func() int64 { return c.Value }},
		{"total", func(c *Counter) func() int64 {
			t := NewTotal(c, totalEvery)
			return func() int64 { sum, _ := t.Value(); return sum }
		}},
	}
	for _, r := range readers {
		b.Run("reader="+r.name, func(b *testing.B) {
			c := mustNew(Options{Pick: PerP})
			var (
				stop atomic.Bool
				wg   sync.WaitGroup
			)
			if r.of != nil {
				read := r.of(c)
				wg.Go(func() {
					for !stop.Load() {
						read()
					}
				})
				runtime.Gosched()
			}
			for b.Loop() {
				c.Inc()
			}
			stop.Store(true)
			wg.Wait()
		})
	}
}

// BenchmarkValue reads a counter that nobody writes.
func BenchmarkValue(b *testing.B) {
	for _, stripes := range []int{1, 2, 8, 64} {
		b.Run("stripes="+strconv.Itoa(stripes), func(b *testing.B) {
			c := mustNew(Options{Stripes: stripes})
			for b.Loop() {
				c.Value()
			}
		})
	}
}
