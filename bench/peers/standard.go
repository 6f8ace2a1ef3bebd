//go:build hotcount_synccounter

package peers

import (
	"sync"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// standardCounters returns the sharded counter of Go's own sync package, as
// golang/go#80645 proposes it.
func standardCounters() []bench.Impl {
	return []bench.Impl{{Name: "sync.Counter", New: func(l bench.Layout) (bench.Counters, error) {
		return syncCounters(work.Cells[sync.Counter[int64]](l.Keys)), nil
	}}}
}

type syncCounters []sync.Counter[int64]

func (s syncCounters) Incs(n int) {
	c := &s[0]
	for range n {
		c.Add(1)
	}
}

func (s syncCounters) Run(steps []bench.Step) {
	for _, step := range steps {
		c := &s[step.Key()]
		if step.Read() {
			c.Value()
		} else {
			c.Add(1)
		}
	}
}

func (s syncCounters) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return s[key].Value() })
}
