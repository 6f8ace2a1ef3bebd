package peers

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/cockroachdb/crlib/crsync"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/puzpuzpuz/xsync/v4"

	"github.com/hotcount/hotcount/stripe"
)

// counterPeers are the counters to compare. Each makes one and returns a loop
// of n increments, so that no call through an interface is in what is timed.
var counterPeers = []struct {
	name string
	make func() func(n int)
}{
	{"hotcount", func() func(int) {
		c, err := stripe.New(stripe.Options{Pick: stripe.PerP})
		if err != nil {
			panic(err)
		}
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}},
	{"hotcount-zero", func() func(int) {
		c := &new(alone[stripe.Counter]).v
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}},
	{"atomic", func() func(int) {
		c := &new(alone[atomic.Int64]).v
		return func(n int) {
			for range n {
				c.Add(1)
			}
		}
	}},
	{"mutex", func() func(int) {
		c := &new(alone[struct {
			sync.Mutex
			n int64
		}]).v
		return func(n int) {
			for range n {
				c.Lock()
				c.n++
				c.Unlock()
			}
		}
	}},
	{"xsync", func() func(int) {
		c := xsync.NewCounter()
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}},
	{"victoria", func() func(int) {
		c := &new(alone[metrics.Counter]).v
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}},
	{"crsync", func() func(int) {
		c := crsync.MakeCounter()
		return func(n int) {
			for range n {
				c.Add(1)
			}
		}
	}},
	{"prometheus", func() func(int) {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "hits_total"})
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}},
}

// alone keeps a counter off everybody else's cache lines, so that each peer is
// measured at its best. 256 bytes are the longest line of any machine Go knows.
type alone[T any] struct {
	_ [256]byte
	v T
	_ [256]byte
}

// onAllPs runs loop b.N times in all, on a goroutine for each P.
func onAllPs(b *testing.B, loop func(n int)) {
	procs := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for p := range procs {
		wg.Go(func() { loop((b.N + p) / procs) })
	}
	wg.Wait()
}

// BenchmarkCounterAdd is one counter under one goroutine for each P; ns/op is
// wall time over all increments.
func BenchmarkCounterAdd(b *testing.B) {
	for _, p := range counterPeers {
		b.Run("impl="+p.name, func(b *testing.B) {
			loop := p.make()
			loop(1000) // what an implementation does once is not in what is timed
			b.ResetTimer()
			onAllPs(b, loop)
		})
	}
}

// BenchmarkCounterChurn is 4,096 goroutines that add a few times, sleep on a
// channel, and go on wherever they are woken. ns/op is a wake-up and its adds.
func BenchmarkCounterChurn(b *testing.B) {
	const goroutines, adds = 4096, 16
	for _, p := range counterPeers {
		b.Run("impl="+p.name, func(b *testing.B) {
			loop := p.make()
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

// BenchmarkCounterValue reads a counter that nobody writes.
func BenchmarkCounterValue(b *testing.B) {
	hot, err := stripe.New(stripe.Options{Pick: stripe.PerP})
	if err != nil {
		b.Fatal(err)
	}
	x := xsync.NewCounter()
	cr := crsync.MakeCounter()
	for name, value := range map[string]func() int64{"hotcount": hot.Value, "xsync": x.Value, "crsync": cr.Get} {
		b.Run("impl="+name+"/procs="+strconv.Itoa(runtime.GOMAXPROCS(0)), func(b *testing.B) {
			for b.Loop() {
				value()
			}
		})
	}
}

// BenchmarkCounterBytes says what a counter weighs before anybody counts.
func BenchmarkCounterBytes(b *testing.B) {
	const many = 10_000
	for name, make := range map[string]func() any{
		"hotcount-zero": func() any { return new(stripe.Counter) },
		"atomic":        func() any { return new(atomic.Int64) },
		"xsync":         func() any { return xsync.NewCounter() },
		"victoria":      func() any { return new(metrics.Counter) },
		"crsync":        func() any { c := crsync.MakeCounter(); return &c },
		"prometheus":    func() any { return prometheus.NewCounter(prometheus.CounterOpts{Name: "hits_total"}) },
	} {
		b.Run("impl="+name, func(b *testing.B) {
			kept := new([many]any)
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				for i := range kept {
					kept[i] = make()
				}
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/many, "B/counter")
			}
			runtime.KeepAlive(kept)
		})
	}
}
