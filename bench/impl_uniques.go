package bench

import (
	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/hll"
)

// uniquesImpls count distinct elements.
func uniquesImpls() []Impl {
	return []Impl{{Name: "hotcount", New: func(l Layout) (Counters, error) {
		s := new(hll.Sketch)
		for _, h := range work.SketchedHashes() {
			s.AddHash(h)
		}
		return &sketch{s, work.Elements(l.Keys)}, nil
	}}}
}

type sketch struct {
	s        *hll.Sketch
	elements [][]byte
}

func (s *sketch) Incs(n int) {
	e := s.elements[0]
	for range n {
		s.s.Add(e)
	}
}

func (s *sketch) Run(steps []Step) {
	for _, step := range steps {
		s.s.Add(s.elements[step.Key()])
	}
}

func (s *sketch) Verify(adds []int64) error {
	return CompareEstimate(adds, work.Sketched, s.s.Estimate().Count, 0.0081) // that of precision 14; see package hll
}
