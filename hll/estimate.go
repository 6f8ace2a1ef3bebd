package hll

import "math"

// DefaultSigma is the width of the interval that Sketch.Estimate returns.
const DefaultSigma = 2

// An Estimate is about how many distinct elements were added. Low <= Count <=
// High.
type Estimate struct {
	Count     uint64
	Low, High uint64
}

// Estimate is EstimateAt(DefaultSigma): the truth lies within Low and High in
// about 95 of 100 sketches.
func (s *Sketch) Estimate() Estimate { return s.EstimateAt(DefaultSigma) }

// EstimateAt returns the estimated count, and the interval that reaches sigma
// standard errors to either side: 1 holds the truth in 68 of 100 sketches, 2 in
// 95, 3 in 99.7. A sigma that is not positive counts as 0. An empty sketch's
// Estimate is 0 throughout.
//
// It takes about 10 µs at precision 14, less while the sketch is small, holds
// up no Add, and counts every Add that returned before it began.
func (s *Sketch) EstimateAt(sigma float64) Estimate {
	if !(sigma > 0) {
		sigma = 0
	}
	const infinite = 1 << 32 // as good as, but 0 when times 0
	sigma = min(sigma, infinite)
	st := s.current()
	if st.regs == nil {
		return estimateKeys(st.len(), sigma)
	}
	h := st.regs.histogram()
	l := h.likelihood(st.p, st.kind()) // the kind after the registers
	return l.estimate(st.p, sigma)
}

// estimateKeys is linear counting over the 2^25 keys (Whang et al. 1990). The
// number of elements that collided with others' keys is nearly Poisson
// distributed; the elements cannot be fewer than the keys.
func estimateKeys(n int, sigma float64) Estimate {
	const cells = 1 << keyBits
	keys := float64(n)
	collided := cells*math.Log(cells/(cells-keys)) - keys
	return Estimate{
		Count: uint64(keys + collided + 0.5),
		Low:   uint64(n),
		High:  uint64(keys + collided + sigma*math.Sqrt(collided) + 0.5),
	}
}

// estimate returns the estimate of a large sketch.
func (l *likelihood) estimate(p uint8, sigma float64) Estimate {
	x, variance := l.maximum()
	n := math.Ldexp(x, int(p))
	if n == 0 {
		return Estimate{}
	}
	// The likelihood lets the number of elements vary as that of random
	// arrivals would, about which the question is not.
	variance = max(0, variance-1/n)
	// The estimate is a reciprocal in nature, and the mean of a reciprocal
	// exceeds the reciprocal of the mean by the relative variance. Without
	// this, a sketch of 16 registers would count 3 % too much.
	n /= 1 + variance
	err := sigma * math.Sqrt(variance)
	e := Estimate{
		Count: clampUint64(n + 0.5),
		Low:   clampUint64(n / math.Exp(err)),
		High:  clampUint64(math.Ceil(n * math.Exp(err))),
	}
	e.Low = min(max(e.Low, clampUint64(l.occurred())), e.Count)
	return e
}

// clampUint64 truncates x, which is not negative, to a uint64.
func clampUint64(x float64) uint64 {
	if x >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(x)
}
