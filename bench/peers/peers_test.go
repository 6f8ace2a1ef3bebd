package peers

import (
	"testing"

	"github.com/hotcount/hotcount/bench"
)

// Every peer holds what was added to it, by one goroutine, by several and by
// many, with every choice of keys and reads.
func TestPeersConserve(t *testing.T) {
	ours := make(map[string]int)
	for _, w := range bench.Workloads() {
		ours[w.Name] = len(w.Impls)
	}
	for _, w := range All() {
		w.Impls = w.Impls[ours[w.Name]:]
		for _, c := range bench.Plan([]bench.Workload{w}, 3, bench.Full) {
			if err := bench.Check(c, 1+6000/c.Goroutines); err != nil {
				t.Error(err)
			}
		}
	}
}
