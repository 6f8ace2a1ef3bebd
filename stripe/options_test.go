package stripe

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{{Stripes: -1}, {Stripes: MaxStripes + 1}, {Stripes: math.MinInt}} {
		_, err := New(o)
		require.ErrorIs(t, err, ErrStripes)
	}
	_, err := New(Options{Pick: Random + 1})
	require.ErrorIs(t, err, ErrPick)
	assert.ErrorContains(t, err, "Pick(4)")
}

func TestRounding(t *testing.T) {
	for in, want := range map[int]int{1: 1, 2: 2, 3: 4, 5: 8, 64: 64, 65: 128, MaxStripes: MaxStripes} {
		c, err := New(Options{Stripes: in})
		require.NoError(t, err)
		assert.Len(t, c.Stats().Stripes, want)
	}
	c, err := New(Options{Pick: PerP})
	require.NoError(t, err)
	n, p := len(c.Stats().Stripes), runtime.GOMAXPROCS(0)
	assert.True(t, p <= n && n < 2*p, "%d stripes for %d Ps", n, p)
}

func TestRecommend(t *testing.T) {
	for _, c := range []struct {
		peak, ceiling float64
		want          int
	}{
		{1, 1e9, 1}, {1e8, 1e8, 1}, {1.01e8, 1e8, 2}, {3e8, 1e8, 4}, {5e8, 1e8, 8}, {MaxStripes, 1, MaxStripes},
		{math.SmallestNonzeroFloat64, math.MaxFloat64, 1},
	} {
		got, err := Recommend(c.peak, c.ceiling)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%v ÷ %v", c.peak, c.ceiling)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {nan, 1}, {1, nan}, {inf, 1}, {1, inf}, {MaxStripes + 1, 1}, {math.MaxFloat64, 1e-300}} {
		_, err := Recommend(c[0], c[1])
		assert.ErrorIs(t, err, ErrRate, "%v", c)
	}
}

func TestCeiling(t *testing.T) {
	rate := Ceiling(time.Millisecond)
	stripes, err := Recommend(rate*3, rate)
	require.NoError(t, err, "a measured ceiling makes sense to Recommend")
	assert.Equal(t, 4, stripes)
}
