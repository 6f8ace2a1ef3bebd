package hll

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logLikelihood is the oracle of the estimator: the logarithm of the probability
// of each register, one after the other, when x elements are expected in it.
func logLikelihood(rs registers, p uint8, kind Kind, x float64) float64 {
	var sum float64
	last := int(64 - p + 1)
	none := func(v int) float64 { // expected elements of rho v, which has the
		return x * math.Exp2(-float64(min(v, last-1))) // rest of the bits if last
	}
	for i := range 1 << p {
		r := int(rs[i/4]>>(i%4*8)) & 0xff
		u := r >> 2
		for v := u + 1; v <= last; v++ {
			sum -= none(v)
		}
		came := func(v int, yes bool) {
			switch {
			case v < 1:
			case yes:
				sum += math.Log(-math.Expm1(-none(v)))
			default:
				sum -= none(v)
			}
		}
		came(u, true)
		if kind == UltraLogLog {
			came(u-1, r&2 != 0)
			came(u-2, r&1 != 0)
		}
	}
	return sum
}

// likeliest returns the maximum of the likelihood of a large state.
func likeliest(st *state, kind Kind) (x, variance float64) {
	h := st.regs.histogram()
	l := h.likelihood(st.p, kind)
	return l.maximum()
}

// No count is likelier than the estimate, and the error is that of the curvature
// there.
func TestMaximumLikelihood(t *testing.T) {
	for _, p := range []uint8{4, 8, 12} {
		s := newLarge(p)
		for i := range uint64(40_000) {
			s.count(hashOf(i))
			if n := i + 1; n&(n-1) != 0 && n%9_999 != 0 {
				continue
			}
			for _, kind := range []Kind{UltraLogLog, HyperLogLog} {
				x, variance := likeliest(s, kind)
				l := func(factor float64) float64 { return logLikelihood(s.regs, p, kind, x*factor) }
				const step = 1e-3
				up, top, down := l(math.Exp(step)), l(1), l(math.Exp(-step))
				require.Greater(t, top, up, "p=%d, n=%d, %v", p, i+1, kind)
				require.Greater(t, top, down, "p=%d, n=%d, %v", p, i+1, kind)
				require.InDelta(t, 0, (up-down)/(2*step)*variance, 1e-5, "the slope at p=%d, n=%d, %v", p, i+1, kind)
				require.InEpsilon(t, (2*top-up-down)/(step*step), 1/variance, 1e-3, "p=%d, n=%d, %v", p, i+1, kind)
			}
		}
	}
}

// StandardError is what the likelihood says of many elements.
func TestStandardError(t *testing.T) {
	const p = 14
	s := newLarge(p)
	for i := range uint64(100 << p) {
		s.count(hashOf(i))
	}
	for kind, want := range map[Kind]float64{UltraLogLog: 0.0059, HyperLogLog: 0.0081} {
		_, variance := likeliest(s, kind)
		assert.InEpsilon(t, want, kind.StandardError(p), 0.01)
		assert.InEpsilon(t, kind.StandardError(p), math.Sqrt(variance), 0.02)
	}
	assert.Equal(t, "ultraloglog hyperloglog kind 2", fmt.Sprint(UltraLogLog, HyperLogLog, Kind(2)))
}

func TestEstimateLimits(t *testing.T) {
	for p := uint8(MinPrecision); p <= MaxPrecision; p++ {
		assert.Equal(t, Estimate{}, mustNew(t, Options{Precision: int(p)}).Estimate())
		for _, kind := range []Kind{UltraLogLog, HyperLogLog} {
			var h histogram
			h[0] = 1 << p
			l := h.likelihood(p, kind)
			assert.Equal(t, Estimate{}, l.estimate(p, 2), "empty registers")
			h = histogram{}
			h[registerAt(64-p+1)|lowMask] = 1 << p
			l = h.likelihood(p, kind)
			assert.Equal(t, Estimate{math.MaxUint64, math.MaxUint64, math.MaxUint64}, l.estimate(p, 2), "all registers full")
		}
		s := mustNew(t, Options{Precision: int(p)})
		s.AddHash(0) // the longest run of zeros there is
		assert.Equal(t, uint64(1), s.Estimate().Low)
		assert.Less(t, s.Estimate().Count, uint64(3))
	}
}

// An element raises the estimate of a HyperLogLog, if it changes it at all. In an
// UltraLogLog it may push out of a register what this knew of smaller rhos; so the
// estimate may fall, a little and seldom.
func TestEstimateRises(t *testing.T) {
	for _, p := range []uint8{4, 8, 11} {
		var last, highest [2]float64
		var changed, fell int
		s := newLarge(p)
		for i := range uint64(10_000) {
			s.count(hashOf(i) >> (i % 40))
			for kind := range last {
				x, _ := likeliest(s, Kind(kind))
				if x < last[kind] {
					fell++
				}
				if x != last[kind] {
					changed++
				}
				last[kind] = x
				highest[kind] = max(highest[kind], x)
				if Kind(kind) == HyperLogLog {
					require.GreaterOrEqual(t, x, highest[kind]*(1-1e-9))
				}
			}
		}
		assert.Less(t, fell, changed/10, "p=%d", p)
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
