//go:build unix

package peers

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/hotcount/hotcount/stripe"
)

// onShared is a side whose goroutines all write the same thing.
func onShared(name string, make func() func(n int)) side {
	return side{name, func() func(p, n int) {
		loop := make()
		return func(_, n int) { loop(n) }
	}}
}

func counterOf(o stripe.Options) *stripe.Counter {
	c, err := stripe.New(o)
	if err != nil {
		panic(err)
	}
	return c
}

func incOf(o stripe.Options) func() func(int) {
	return func() func(int) {
		c := counterOf(o)
		return func(n int) {
			for range n {
				c.Inc()
			}
		}
	}
}

// BenchmarkCounterSides is one counter under a goroutine for each P.
func BenchmarkCounterSides(b *testing.B) {
	var sides []side
	for _, p := range counterPeers {
		sides = append(sides, onShared(p.name, p.make))
	}
	compareSides(b, sides)
}

// BenchmarkPickSides is the same counter under each pick, and under a Local.
func BenchmarkPickSides(b *testing.B) {
	compareSides(b, []side{
		onShared("perP", incOf(stripe.Options{Pick: stripe.PerP})),
		onShared("perP-8", incOf(stripe.Options{Stripes: 8, Pick: stripe.PerP})),
		onShared("perGoroutine", incOf(stripe.Options{Pick: stripe.PerGoroutine})),
		onShared("perGoroutine-8", incOf(stripe.Options{Stripes: 8, Pick: stripe.PerGoroutine})),
		onShared("random-8", incOf(stripe.Options{Stripes: 8, Pick: stripe.Random})),
		{"local", func() func(p, n int) {
			c := new(stripe.Counter)
			return func(_, n int) {
				l := c.Local(1000)
				for range n {
					l.Inc()
				}
				l.Flush()
			}
		}},
	})
}

// BenchmarkGroupSides is one update of four counts.
func BenchmarkGroupSides(b *testing.B) {
	compareSides(b, []side{
		onShared("group", func() func(int) {
			g := stripe.NewGroup(4)
			return func(n int) {
				for range n {
					g.Add(1, 2, 3, 4)
				}
			}
		}),
		onShared("counters", func() func(int) {
			var cs [4]*stripe.Counter
			for i := range cs {
				cs[i] = counterOf(stripe.Options{Pick: stripe.PerP})
			}
			return func(n int) {
				for range n {
					for i, c := range cs {
						c.Add(int64(i + 1))
					}
				}
			}
		}),
		onShared("atomics", func() func(int) {
			as := &new(alone[[4]atomic.Int64]).v
			return func(n int) {
				for range n {
					for i := range as {
						as[i].Add(int64(i + 1))
					}
				}
			}
		}),
	})
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
			cs := [2]*alone[stripe.Counter]{new(alone[stripe.Counter]), new(alone[stripe.Counter])}
			return mine(func(p int) *stripe.Counter { return &cs[p].v })
		}},
	})
}

// BenchmarkReaderSides is one writer, timed, and one reader in a loop beside
// it, at 2 Ps.
func BenchmarkReaderSides(b *testing.B) {
	beside := func(name string, reader func(c *stripe.Counter) func()) side {
		return side{name, func() func(p, n int) {
			c := counterOf(stripe.Options{Pick: stripe.PerP})
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
