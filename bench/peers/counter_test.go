package peers

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/stripe"
)

// impls returns the implementations of a workload, hotcount first.
func impls(workload string) []bench.Impl {
	all := All()
	return all[slices.IndexFunc(all, func(w bench.Workload) bool { return w.Name == workload })].Impls
}

// mustMake makes the counters of an implementation.
func mustMake(impl bench.Impl, l bench.Layout) bench.Counters {
	c, err := impl.New(l)
	if err != nil {
		panic(err)
	}
	return c
}

// A counterPeer is one counter to compare.
type counterPeer struct {
	name   string
	impl   bench.Impl
	layout bench.Layout
}

// counterPeers are those of the workload "add", and hotcount's twice: hot from
// the start, and as the zero value is.
func counterPeers() []counterPeer {
	var all []counterPeer
	for _, impl := range impls("add") {
		if impl.Striped {
			all = append(all, counterPeer{impl.Name, impl, bench.Layout{Keys: 1, Pick: stripe.PerP}})
			impl.Name += "-zero"
		}
		all = append(all, counterPeer{impl.Name, impl, bench.Layout{Keys: 1}})
	}
	return all
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
	for _, p := range counterPeers() {
		b.Run("impl="+p.name, func(b *testing.B) {
			loop := mustMake(p.impl, p.layout).Incs
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
	for _, p := range counterPeers() {
		b.Run("impl="+p.name, func(b *testing.B) {
			loop := mustMake(p.impl, p.layout).Incs
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
	for _, p := range counterPeers() {
		if p.impl.Unreadable {
			continue
		}
		b.Run("impl="+p.name+"/procs="+strconv.Itoa(runtime.GOMAXPROCS(0)), func(b *testing.B) {
			repeat(b, mustMake(p.impl, p.layout), bench.ReadOf(0))
		})
	}
}

// repeat makes the step b.N times.
func repeat(b *testing.B, c bench.Counters, step bench.Step) {
	steps := slices.Repeat([]bench.Step{step}, 1000)
	b.ResetTimer()
	for left := b.N; left > 0; left -= len(steps) {
		c.Run(steps[:min(left, len(steps))])
	}
}

// BenchmarkCounterBytes says what a counter weighs before anybody counts.
func BenchmarkCounterBytes(b *testing.B) {
	const many = 10_000
	for _, p := range counterPeers() {
		b.Run("impl="+p.name, func(b *testing.B) {
			l := p.layout
			l.Keys = many
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				c := mustMake(p.impl, l)
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(c)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/many, "B/counter")
			}
		})
	}
}
