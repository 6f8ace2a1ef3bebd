//go:build unix

package peers

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/stripe"
)

// onShared is a side whose goroutines all write counters of one implementation.
func onShared(name string, impl bench.Impl, l bench.Layout) side {
	return side{name, func() func(p, n int) {
		c := mustMake(impl, l)
		return func(_, n int) { c.Incs(n) }
	}}
}

// BenchmarkCounterSides is one counter under a goroutine for each P.
func BenchmarkCounterSides(b *testing.B) {
	var sides []side
	for _, p := range counterPeers() {
		sides = append(sides, onShared(p.name, p.impl, p.layout))
	}
	compareSides(b, sides)
}

// BenchmarkPickSides is the same counter under each pick, and under a Local.
func BenchmarkPickSides(b *testing.B) {
	hotcount := impls("add")[0]
	compareSides(b, []side{
		onShared("perP", hotcount, bench.Layout{Keys: 1, Pick: stripe.PerP}),
		onShared("perP-8", hotcount, bench.Layout{Keys: 1, Stripes: 8, Pick: stripe.PerP}),
		onShared("perGoroutine", hotcount, bench.Layout{Keys: 1, Pick: stripe.PerGoroutine}),
		onShared("perGoroutine-8", hotcount, bench.Layout{Keys: 1, Stripes: 8, Pick: stripe.PerGoroutine}),
		onShared("random-8", hotcount, bench.Layout{Keys: 1, Stripes: 8, Pick: stripe.Random}),
		{"local", func() func(p, n int) {
			c := mustMake(impls("local")[0], bench.Layout{Keys: 1}).(bench.Owner)
			return func(_, n int) {
				l := c.Own()
				l.Incs(n)
				l.Close()
			}
		}},
	})
}

// BenchmarkGroupSides is one update of four counts.
func BenchmarkGroupSides(b *testing.B) {
	var sides []side
	for _, impl := range impls("group") {
		sides = append(sides, onShared(impl.Name, impl, bench.Layout{Keys: 1}))
	}
	compareSides(b, sides)
}

// seriesBytes is what the engine gives a series: one cache line of amd64.
const seriesBytes = 64

type series struct {
	stripe.Counter
	_ [seriesBytes - unsafe.Sizeof(stripe.Counter{})]byte
}

// BenchmarkNeighbourSides is a cold counter for each goroutine, made one after
// the other as the engine makes them, beside counters far from each other. With
// no false sharing the two are equal, at 2 Ps as at 1.
func BenchmarkNeighbourSides(b *testing.B) {
	mine := func(of func(p int) *stripe.Counter) func(p, n int) {
		return func(p, n int) {
			c := of(p)
			for range n {
				c.Inc()
			}
		}
	}
	compareSides(b, []side{
		{"neighbours", func() func(p, n int) {
			cs := [2]*series{new(series), new(series)}
			return mine(func(p int) *stripe.Counter { return &cs[p].Counter })
		}},
		{"far", func() func(p, n int) {
			cs := [2][]stripe.Counter{work.Cells[stripe.Counter](1), work.Cells[stripe.Counter](1)}
			return mine(func(p int) *stripe.Counter { return &cs[p][0] })
		}},
	})
}

// BenchmarkReaderSides is one writer, timed, and one reader in a loop beside
// it, at 2 Ps.
func BenchmarkReaderSides(b *testing.B) {
	beside := func(name string, reader func(c *stripe.Counter) func()) side {
		return side{name, func() func(p, n int) {
			c, err := stripe.New(stripe.Options{Pick: stripe.PerP})
			if err != nil {
				panic(err)
			}
			read := reader(c)
			var written atomic.Bool
			return func(p, n int) {
				if p == 0 {
					for range n {
						c.Inc()
					}
					written.Store(n == roundSteps)
					return
				}
				for n == roundSteps && !written.Load() {
					read()
				}
			}
		}}
	}
	compareSides(b, []side{
		beside("none", func(*stripe.Counter) func() { return func() {} }),
		beside("total", func(c *stripe.Counter) func() {
			t := stripe.NewTotal(c, 100*time.Millisecond)
			return func() { t.Value() }
		}),
		beside("value", func(c *stripe.Counter) func() { return func() { c.Value() } }),
	})
}
