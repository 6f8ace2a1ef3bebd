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
	return estimateRegisters(&h, st.p, sigma)
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

func estimateRegisters(h *histogram, p uint8, sigma float64) Estimate {
	m := float64(uint64(1) << p)
	n := rawEstimate(h, p)
	if n == 0 {
		return Estimate{}
	}
	err := standardError(n, m)
	// The raw estimate is a reciprocal, and the mean of a reciprocal exceeds
	// the reciprocal of the mean by the relative variance. Without this, a
	// sketch of 16 registers would count 7 % too much.
	n /= 1 + err*err
	err *= sigma
	e := Estimate{
		Count: clampUint64(n + 0.5),
		Low:   clampUint64(n / math.Exp(err)),
		High:  clampUint64(math.Ceil(n * math.Exp(err))),
	}
	// As many elements as registers that are set there must have been.
	e.Low = min(max(e.Low, uint64(m)-uint64(h[0])), e.Count)
	return e
}

// standardError returns the standard deviation of an estimate of n by m
// registers, as a fraction of n. It is that of HyperLogLog, or of linear
// counting where this is better: while many registers are still 0. The
// estimator is at least as good as both.
func standardError(n, m float64) float64 {
	load := n / m
	if load > 2 { // the two cross before; exp may not overflow
		return 1.04 / math.Sqrt(m)
	}
	linear := math.Sqrt((math.Exp(load)-load-1)/m) / load
	return min(linear, 1.04/math.Sqrt(m))
}

// clampUint64 truncates x, which is not negative, to a uint64.
func clampUint64(x float64) uint64 {
	if x >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(x)
}

// rawEstimate is the improved raw estimator of O. Ertl, "New cardinality
// estimation algorithms for HyperLogLog sketches" (2017, arXiv:1702.01284),
// section 4, algorithm 6. It needs no tables and no case for small or large
// counts.
func rawEstimate(h *histogram, p uint8) float64 {
	m := float64(uint64(1) << p)
	q := 64 - int(p)
	z := m * tau(1-float64(h[q+1])/m)
	for v := q; v >= 1; v-- {
		z = (z + float64(h[v])) / 2
	}
	z += m * sigma(float64(h[0])/m)
	return m * m / (2 * math.Ln2 * z)
}

// sigma is x + sum over k >= 1 of x^(2^k) * 2^(k-1), for the registers that are
// 0. It is infinite at 1, that is, for an empty sketch.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	sum := x
	for y := 1.0; ; y *= 2 {
		x *= x
		next := sum + x*y
		if next == sum {
			return sum
		}
		sum = next
	}
}

// tau is (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 * 2^-k) / 3, for the
// registers that can grow no more.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	sum := 1 - x
	for y := 0.5; ; y /= 2 {
		x = math.Sqrt(x)
		next := sum - (1-x)*(1-x)*y
		if next == sum {
			return sum / 3
		}
		sum = next
	}
}
