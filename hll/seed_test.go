package hll

import (
	"math/bits"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whoever knows the hash can prepare elements that each look like thousands.
// Under a seed that they do not know, the same elements are as good as any.
func TestASeedDefeatsPreparedElements(t *testing.T) {
	const (
		elements  = 5000
		precision = 10
		zeros     = 10 // behind the bits that choose a register: one element in 1,024
	)
	open := mustNew(t, Options{Precision: precision})
	seeded := mustNew(t, Options{Precision: precision, Seed: 0x5eed})
	for i, n := 0, 0; n < elements; i++ {
		s := strconv.Itoa(i)
		if bits.LeadingZeros64(open.HashString(s)<<precision) < zeros {
			continue
		}
		n++
		open.AddString(s)
		seeded.AddString(s)
	}
	assert.Greater(t, open.Estimate().Low, uint64(10*elements))
	got := seeded.EstimateAt(4)
	assert.LessOrEqual(t, got.Low, uint64(elements))
	assert.GreaterOrEqual(t, got.High, uint64(elements))
}
