package peers

import (
	"sync"

	"github.com/axiomhq/hyperloglog"
	"github.com/cespare/xxhash/v2"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// uniques has the sketch that others build on. It is not safe for concurrent
// use, so it is behind a mutex; elements are hashed outside of that.
func uniques() []bench.Impl {
	return []bench.Impl{{Name: "axiomhq-mutex", New: func(l bench.Layout) (bench.Counters, error) {
		return &axiomhq{sketch: warmAxiomhq(), elements: work.Elements(l.Keys)}, nil
	}}}
}

// warmAxiomhq returns a sketch that has what the benchmark's sketches begin with.
func warmAxiomhq() *hyperloglog.Sketch {
	s := hyperloglog.NewNoSparse()
	for _, h := range work.SketchedHashes() {
		s.InsertHash(h)
	}
	return s
}

type axiomhq struct {
	mu       sync.Mutex
	sketch   *hyperloglog.Sketch
	elements [][]byte
}

func (a *axiomhq) add(element []byte) {
	h := xxhash.Sum64(element)
	a.mu.Lock()
	a.sketch.InsertHash(h)
	a.mu.Unlock()
}

func (a *axiomhq) Incs(n int) {
	e := a.elements[0]
	for range n {
		a.add(e)
	}
}

func (a *axiomhq) Run(steps []bench.Step) {
	for _, s := range steps {
		a.add(a.elements[s.Key()])
	}
}

// Verify allows for the bias of the sketch's estimator beside its standard
// error.
func (a *axiomhq) Verify(adds []int64) error {
	return bench.CompareEstimate(adds, work.Sketched, a.sketch.Estimate(), 0.01)
}
