package hll

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maximumLikelihood is the oracle of the estimator: the count n that makes the
// histogram likeliest if registers are independent and a register is at most v
// with probability exp(-n/m * 2^-v).
func maximumLikelihood(h *histogram, p uint8) float64 {
	m, q := math.Exp2(float64(p)), 64-int(p)
	slope := func(n float64) float64 { // of the logarithm of the likelihood, over n
		x := n / m
		s := -float64(h[0]) * x
		for v := 1; v <= q+1; v++ {
			y := x * math.Exp2(-float64(min(v, q)))
			s += float64(h[v]) * y / math.Expm1(y)
			if v <= q {
				s -= float64(h[v]) * y
			}
		}
		return s
	}
	lo, hi := 0.0, math.Exp2(70)
	for range 200 {
		mid := (lo + hi) / 2
		if lo > 1 {
			mid = math.Sqrt(lo * hi)
		}
		if slope(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// The estimate is near that of maximum likelihood: the two differ by far less
// than either does from the truth.
func TestEstimatorAgainstMaximumLikelihood(t *testing.T) {
	for p := uint8(MinPrecision); p <= MaxPrecision; p += 2 {
		r := newRegisters(p)
		for i := range uint64(100_000) {
			r.raise(registerOf(hashOf(i), p))
			if n := i + 1; n&(n-1) != 0 && n%9_999 != 0 {
				continue
			}
			h := r.histogram()
			want := maximumLikelihood(&h, p)
			require.InEpsilon(t, want, rawEstimate(&h, p), 0.6*1.04/math.Exp2(float64(p)/2), "p=%d, n=%d", p, i+1)
		}
	}
}

func TestEstimateLimits(t *testing.T) {
	for p := uint8(MinPrecision); p <= MaxPrecision; p++ {
		assert.Equal(t, Estimate{}, mustNew(t, Options{Precision: int(p)}).Estimate())
		var h histogram
		h[0] = 1 << p
		assert.Equal(t, Estimate{}, estimateRegisters(&h, p, 2), "empty registers")
		h = histogram{}
		h[64-p+1] = 1 << p
		assert.Equal(t, Estimate{math.MaxUint64, math.MaxUint64, math.MaxUint64}, estimateRegisters(&h, p, 2), "all registers full")
		s := mustNew(t, Options{Precision: int(p)})
		s.AddHash(0) // the longest run of zeros there is
		assert.Equal(t, uint64(1), s.Estimate().Low)
		assert.Less(t, s.Estimate().Count, uint64(3))
	}
}

// Registers only grow, and with them the estimate.
func TestEstimateIsMonotone(t *testing.T) {
	for _, p := range []uint8{4, 8, 11} {
		var last float64
		r := newRegisters(p)
		for i := range uint64(10_000) {
			r.raise(registerOf(hashOf(i)>>(i%40), p))
			h := r.histogram()
			n := rawEstimate(&h, p)
			require.GreaterOrEqual(t, n, last)
			last = n
		}
	}
}

func TestIntervals(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		s := sketchOf(t, p, 0, n)
		assert.Equal(t, s.EstimateAt(DefaultSigma), s.Estimate())
		var last Estimate
		for i, sigma := range []float64{math.NaN(), -1, 0, 0.5, 1, 2, 3, 10, 1e3, math.Inf(1)} {
			e := s.EstimateAt(sigma)
			requireOrdered(t, e)
			if i > 0 {
				assert.Equal(t, last.Count, e.Count)
				assert.LessOrEqual(t, e.Low, last.Low)
				assert.GreaterOrEqual(t, e.High, last.High)
			}
			last = e
		}
		assert.LessOrEqual(t, last.Low, n, "at any sigma, no more than there are")
		assert.GreaterOrEqual(t, last.High, n)
	})
}

// A small sketch counts each key as an element, and loses only those that
// collide.
func TestSmallIsNearlyExact(t *testing.T) {
	for _, n := range []uint64{1, 10, 100, 1000, 5000, 7000} {
		var off []uint64
		for trial := range uint64(10) {
			e := sketchOf(t, 14, trial<<32, n).Estimate()
			off = append(off, max(e.Count, n)-min(e.Count, n))
		}
		slices.Sort(off)
		assert.LessOrEqual(t, off[len(off)-1], n/1000+1, "the worst at %d", n)
		assert.LessOrEqual(t, off[len(off)/2], n/5000, "the median at %d", n)
	}
}
