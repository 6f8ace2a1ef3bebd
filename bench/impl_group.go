package bench

import (
	"fmt"
	"sync/atomic"

	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/stripe"
)

// groupImpls update four counts together: requests, errors, bytes, items.
func groupImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: func(Layout) (Counters, error) { return (*group)(stripe.NewGroup(groupSize)), nil }},
		{Name: "counters", New: newGroupOfCounters},
		{Name: "atomics", New: func(Layout) (Counters, error) {
			return &groupOfAtomics{&work.Cells[[groupSize]atomic.Int64](1)[0]}, nil
		}},
	}
}

const groupSize = 4

// verifyGroup checks that the count at i holds i+1 for each add.
func verifyGroup(adds []int64, value func(i int) int64) error {
	for i := range groupSize {
		if got, want := value(i), adds[0]*int64(i+1); got != want {
			return fmt.Errorf("%w: count %d of the group is %d, not %d", ErrCount, i, got, want)
		}
	}
	return nil
}

type group stripe.Group

func (g *group) Incs(n int) {
	for range n {
		(*stripe.Group)(g).Add(1, 2, 3, 4)
	}
}

func (g *group) Run(steps []Step) { g.Incs(len(steps)) }

func (g *group) Verify(adds []int64) error { return verifyGroup(adds, (*stripe.Group)(g).Value) }

// groupOfCounters is four counters that are hot from the start.
type groupOfCounters [groupSize]*stripe.Counter

func newGroupOfCounters(Layout) (Counters, error) {
	g := new(groupOfCounters)
	for i := range g {
		c, err := stripe.New(stripe.Options{Pick: stripe.PerP})
		if err != nil {
			return nil, err
		}
		g[i] = c
	}
	return g, nil
}

func (g *groupOfCounters) Incs(n int) {
	for range n {
		for i, c := range g {
			c.Add(int64(i + 1))
		}
	}
}

func (g *groupOfCounters) Run(steps []Step) { g.Incs(len(steps)) }

func (g *groupOfCounters) Verify(adds []int64) error {
	return verifyGroup(adds, func(i int) int64 { return g[i].Value() })
}

// groupOfAtomics is four atomics side by side.
type groupOfAtomics struct{ counts *[groupSize]atomic.Int64 }

func (g *groupOfAtomics) Incs(n int) {
	for range n {
		for i := range g.counts {
			g.counts[i].Add(int64(i + 1))
		}
	}
}

func (g *groupOfAtomics) Run(steps []Step) { g.Incs(len(steps)) }

func (g *groupOfAtomics) Verify(adds []int64) error {
	return verifyGroup(adds, func(i int) int64 { return g.counts[i].Load() })
}
