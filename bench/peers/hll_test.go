package peers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/axiomhq/hyperloglog"
	"github.com/cespare/xxhash/v2"

	"github.com/hotcount/hotcount/hll"
)

// hllKeys are 16-byte keys, few enough for them and the registers to stay in the
// nearest caches, so that it is the sketches that are timed.
func hllKeys() [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([][]byte, hllKeyCount)
	for i := range all {
		all[i] = fmt.Appendf(nil, "%016x", rng.Uint64())
	}
	return all
}

// hllKeyCount is a power of two, so that the next key costs no division.
const hllKeyCount = 1 << 10

// warm adds keys and 100,000 more elements, as a busy server would have.
func warm(keys [][]byte, add func(hash uint64)) {
	const others = 100_000
	rng := rand.New(rand.NewPCG(3, 4))
	for range others {
		add(rng.Uint64())
	}
	for _, k := range keys {
		add(xxhash.Sum64(k))
	}
}

func warmSketch(keys [][]byte) *hll.Sketch {
	s := new(hll.Sketch)
	warm(keys, s.AddHash)
	return s
}

func warmAxiomhq(keys [][]byte) *hyperloglog.Sketch {
	s := hyperloglog.NewNoSparse()
	warm(keys, s.InsertHash)
	return s
}

// BenchmarkHLLAdd is one goroutine that adds keys which a large sketch has
// seen.
func BenchmarkHLLAdd(b *testing.B) {
	keys := hllKeys()
	b.Run("impl=hotcount", func(b *testing.B) {
		s, i := warmSketch(keys), 0
		for b.Loop() {
			s.Add(keys[i&(hllKeyCount-1)])
			i++
		}
	})
	b.Run("impl=axiomhq", func(b *testing.B) {
		s, i := warmAxiomhq(keys), 0
		for b.Loop() {
			s.InsertHash(xxhash.Sum64(keys[i&(hllKeyCount-1)]))
			i++
		}
	})
}

// BenchmarkHLLAddParallel is BenchmarkHLLAdd by GOMAXPROCS goroutines. axiomhq
// is behind a mutex, and hashes outside it.
func BenchmarkHLLAddParallel(b *testing.B) {
	keys := hllKeys()
	b.Run("impl=hotcount", func(b *testing.B) {
		s := warmSketch(keys)
		b.RunParallel(func(pb *testing.PB) {
			for i := rand.IntN(hllKeyCount); pb.Next(); i++ {
				s.Add(keys[i&(hllKeyCount-1)])
			}
		})
	})
	b.Run("impl=axiomhq-mutex", func(b *testing.B) {
		s := warmAxiomhq(keys)
		var mu sync.Mutex
		b.RunParallel(func(pb *testing.PB) {
			for i := rand.IntN(hllKeyCount); pb.Next(); i++ {
				h := xxhash.Sum64(keys[i&(hllKeyCount-1)])
				mu.Lock()
				s.InsertHash(h)
				mu.Unlock()
			}
		})
	})
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
	keys := hllKeys()
	b.Run("impl=hotcount", func(b *testing.B) {
		s := warmSketch(keys)
		for b.Loop() {
			s.Estimate()
		}
	})
	b.Run("impl=axiomhq", func(b *testing.B) {
		s := warmAxiomhq(keys)
		for b.Loop() {
			s.Estimate()
		}
	})
}
