package stripe

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What all drains took and what is left is what was added, for each counter.
func TestGroupLedgerCloses(t *testing.T) {
	for _, k := range []int{1, 4, 7, 8, 40} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		const writers, drainers, readers = 5, 2, 1
		var (
			g      = NewGroup(k)
			ledger [writers + drainers + readers + 1][]int64
			last   = make([]int64, k)
		)
		for i := range ledger {
			ledger[i] = make([]int64, k)
		}
		during(ledgerFor(t), len(ledger), func(i int) {
			switch {
			case i < writers:
				ns := make([]int64, rand.IntN(k+1))
				for range 100 {
					for j := range ns {
						ns[j] = rand.Int64N(1000)
						ledger[i][j] += ns[j]
					}
					g.Add(ns...)
				}
			case i < writers+drainers:
				for j, n := range g.Drain(nil) {
					ledger[i][j] -= n
				}
			case i < writers+drainers+readers:
				last = g.Values(last[:0])
				for _, n := range last {
					assert.GreaterOrEqual(t, n, int64(0))
				}
			default:
				runtime.GOMAXPROCS(1 + rand.IntN(9))
			}
		})
		want := make([]int64, k)
		for _, l := range ledger {
			for j, n := range l {
				want[j] += n
			}
		}
		assert.Equal(t, want, g.Values(nil))
		for j := range k {
			assert.Equal(t, want[j], g.Value(j))
		}
		assert.Equal(t, append([]int64{9}, want...), g.Drain([]int64{9}), "Drain appends")
		assert.Equal(t, make([]int64, k), g.Values(nil))
		assert.Equal(t, k, g.Len())
	}
}

func TestGroupMisuse(t *testing.T) {
	assert.Panics(t, func() { NewGroup(0) })
	g := NewGroup(2)
	assert.Panics(t, func() { g.Add(1, 2, 3) })
	assert.Panics(t, func() { g.Value(2) })
	g.Add()
	g.Add(5)
	assert.Equal(t, []int64{5, 0}, g.Values(nil), "a refused update changes nothing and leaves no lock")
}

// A writer that finds its stripe taken goes elsewhere and does not wait.
func TestGroupWriterNeverWaits(t *testing.T) {
	g := NewGroup(2)
	for i := range len(g.lines) / g.stride {
		lock, _ := g.stripe(i)
		*lock = locked
	}
	g.Add(3, 4)
	for i := range len(g.lines) / g.stride {
		lock, _ := g.stripe(i)
		*lock = unlocked
	}
	assert.Equal(t, []int64{3, 4}, g.Values(nil))
}
