package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/hotcount/hotcount/hll"
)

// uniquesImpls count distinct elements.
func uniquesImpls() []Impl {
	return []Impl{{Name: "hotcount", New: func(l Layout) (Counters, error) {
		s := new(hll.Sketch)
		for _, h := range SketchedBefore() {
			s.AddHash(h)
		}
		return &sketch{s, Elements(l.Keys)}, nil
	}}}
}

// Elements returns n different elements of 16 bytes. They are few, so that it
// is the sketch that is timed and not the memory they lie in.
func Elements(n int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([][]byte, n)
	for i := range all {
		all[i] = fmt.Appendf(nil, "%016x", rng.Uint64())
	}
	return all
}

// sketchedBefore is how many elements a sketch has before the work begins, as
// that of a busy server would.
const sketchedBefore = 50_000

// SketchedBefore returns the hashes of the elements that a sketch has before the
// work begins.
func SketchedBefore() []uint64 {
	rng := rand.New(rand.NewPCG(3, 4))
	all := make([]uint64, sketchedBefore)
	for i := range all {
		all[i] = rng.Uint64()
	}
	return all
}

// VerifyUniques returns an error that wraps ErrCount if an estimate of the
// elements before the work and those added is further off than 5 standard
// errors, which is once in two million.
func VerifyUniques(adds []int64, estimate uint64, standardError float64) error {
	want := float64(sketchedBefore)
	for _, n := range adds {
		if n > 0 {
			want++
		}
	}
	if off := float64(estimate)/want - 1; off < -5*standardError || off > 5*standardError {
		return fmt.Errorf("%w: an estimate of %d for %.0f elements", ErrCount, estimate, want)
	}
	return nil
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
	return VerifyUniques(adds, s.s.Estimate().Count, 0.0081) // that of precision 14; see package hll
}
