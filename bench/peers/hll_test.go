package peers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/axiomhq/hyperloglog"
	"github.com/cespare/xxhash/v2"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/hll"
)

// hllKeyCount is a power of two, so that the next key costs no division.
const hllKeyCount = 1 << 10

func warmSketch() *hll.Sketch {
	s := new(hll.Sketch)
	for _, h := range work.SketchedHashes() {
		s.AddHash(h)
	}
	return s
}

// BenchmarkHLLAdd is one goroutine that adds keys which a large sketch has
// seen.
func BenchmarkHLLAdd(b *testing.B) {
	keys := work.Elements(hllKeyCount)
	b.Run("impl=hotcount", func(b *testing.B) {
		s, i := warmSketch(), 0
		for b.Loop() {
			s.Add(keys[i&(hllKeyCount-1)])
			i++
		}
	})
	b.Run("impl=axiomhq", func(b *testing.B) {
		s, i := warmAxiomhq(), 0
		for b.Loop() {
			s.InsertHash(xxhash.Sum64(keys[i&(hllKeyCount-1)]))
			i++
		}
	})
}

// BenchmarkHLLAddParallel is the same by a goroutine for each P.
func BenchmarkHLLAddParallel(b *testing.B) {
	steps := make([]bench.Step, hllKeyCount)
	for i := range steps {
		steps[i] = bench.AddTo(i)
	}
	for _, impl := range impls("uniques") {
		b.Run("impl="+impl.Name, func(b *testing.B) {
			c := mustMake(impl, bench.Layout{Keys: hllKeyCount})
			b.ResetTimer()
			onAllPs(b, func(n int) {
				for ; n > 0; n -= len(steps) {
					c.Run(steps[:min(n, len(steps))])
				}
			})
		})
	}
}

// BenchmarkHLLFill is one goroutine that fills a new sketch with so many
// different elements, so that both grow through their small forms. An op is one
// whole sketch; axiomhq begins sparse.
func BenchmarkHLLFill(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 5000, 10000, 100000} {
		rng := rand.New(rand.NewPCG(3, 4))
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = rng.Uint64()
		}
		b.Run(fmt.Sprintf("n=%d/impl=hotcount", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var s hll.Sketch
				for _, h := range hashes {
					s.AddHash(h)
				}
			}
		})
		b.Run(fmt.Sprintf("n=%d/impl=axiomhq", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := hyperloglog.New()
				for _, h := range hashes {
					s.InsertHash(h)
				}
			}
		})
	}
}

// BenchmarkHLLEstimate reads a large sketch.
func BenchmarkHLLEstimate(b *testing.B) {
	b.Run("impl=hotcount", func(b *testing.B) {
		s := warmSketch()
		for b.Loop() {
			s.Estimate()
		}
	})
	b.Run("impl=axiomhq", func(b *testing.B) {
		s := warmAxiomhq()
		for b.Loop() {
			s.Estimate()
		}
	})
}
