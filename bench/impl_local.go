package bench

import (
	"sync/atomic"

	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/stripe"
)

// localImpls are adds of goroutines that own a handle to the counter.
func localImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: func(Layout) (Counters, error) {
			return locals{adaptive(work.Cells[stripe.Counter](1))}, nil
		}},
		{Name: "counter", New: newStriped},
		{Name: "atomic", New: func(l Layout) (Counters, error) { return atomics(work.Cells[atomic.Int64](l.Keys)), nil }},
	}
}

// localLimit is how far the counter may lag behind each handle: a thousandth of
// what a busy counter sees in a second.
const localLimit = 1000

// locals is one counter, to which each goroutine adds through a stripe.Local.
type locals struct{ adaptive }

func (l locals) Own() OwnCounters { return (*local)(l.adaptive[0].Local(localLimit)) }

type local stripe.Local

func (l *local) Incs(n int) {
	for range n {
		(*stripe.Local)(l).Inc()
	}
}

func (l *local) Run(steps []Step) { l.Incs(len(steps)) }

func (l *local) Close() { (*stripe.Local)(l).Flush() }
