package stripe

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExtremesOfAll(t *testing.T) {
	var (
		hi Max
		lo Min
		vs []int64
	)
	_, ok := hi.Value()
	require.False(t, ok)
	_, ok = lo.Drain()
	require.False(t, ok)
	for range 2000 {
		v := int64(rand.Uint64()) >> rand.IntN(64)
		vs = append(vs, v)
		hi.Observe(v)
		lo.Observe(v)
		top, ok := hi.Value()
		require.True(t, ok)
		require.Equal(t, slices.Max(vs), top)
		low, ok := lo.Value()
		require.True(t, ok)
		require.Equal(t, slices.Min(vs), low)
	}
	top, _ := hi.Drain()
	assert.Equal(t, slices.Max(vs), top)
	_, ok = hi.Value()
	assert.False(t, ok)
}

func TestExtremesOfTheEnds(t *testing.T) {
	var (
		hi Max
		lo Min
	)
	hi.Observe(math.MinInt64)
	lo.Observe(math.MaxInt64)
	_, ok := hi.Value()
	assert.False(t, ok, "documented: it is nothing")
	_, ok = lo.Value()
	assert.False(t, ok, "documented: it is nothing")
	hi.Observe(math.MinInt64 + 1)
	lo.Observe(math.MaxInt64 - 1)
	top, ok := hi.Value()
	assert.True(t, ok)
	assert.Equal(t, int64(math.MinInt64+1), top)
	low, ok := lo.Value()
	assert.True(t, ok)
	assert.Equal(t, int64(math.MaxInt64-1), low)
}

// Several observers and drainers: the largest of all that was observed is the
// largest of all that was drained and left, cold and hot.
func TestExtremesDrainExactly(t *testing.T) {
	const observers, drainers = 4, 2
	for _, hot := range []bool{false, true} {
		var (
			hi        Max
			lo        Min
			high, low [observers + drainers]int64
		)
		if hot {
			hi.e.goHot()
			lo.e.goHot()
		}
		during(ledgerFor(t), observers+drainers, func(i int) {
			var h, l int64
			if i < observers {
				h, l = rand.Int64(), -rand.Int64()
				hi.Observe(h)
				lo.Observe(l)
			} else {
				h, _ = hi.Drain() // 0 when empty, which no maximum and no
				l, _ = lo.Drain() // minimum of these minds
			}
			high[i], low[i] = max(high[i], h), min(low[i], l)
		})
		h, _ := hi.Drain()
		l, _ := lo.Drain()
		assert.Equal(t, slices.Max(high[:observers]), max(h, slices.Max(high[observers:])))
		assert.Equal(t, slices.Min(low[:observers]), min(l, slices.Min(low[observers:])))
	}
}
