package hll

import "math"

// A likelihood is that of the registers of a large sketch, for x elements a
// register. Each rho v comes to a register at random, with probability
// exp(-x/2^v) not at all, and what else comes there does not matter (O. Ertl
// 2024, section 4). So its logarithm is
//
//	-unseen * x + sum over v of seen[v] * log(1 - exp(-x/2^v))
//
// where seen[v] is how many registers know that v came, and unseen sums 2^-v
// over all that know of some v that it did not. It serves both kinds of
// sketches.
type likelihood struct {
	unseen float64
	seen   [rhoLimit]float64
}

// rhoLimit exceeds the greatest rho that there is, 64 - MinPrecision + 1. A
// power of two spares bounds checks.
const rhoLimit = 64

func (h *histogram) likelihood(p uint8, kind Kind) (l likelihood) {
	last := int(64 - p) // no bits are left to tell a greater rho from the next
	for r, count := range h {
		if count == 0 {
			continue
		}
		n, u := float64(count), int(register(r).rho())
		if u <= last { // nothing greater came: the sum of 2^-v over v > u
			l.unseen += math.Ldexp(n, -u)
		}
		if u == 0 {
			continue
		}
		l.seen[min(u, last)] += n
		if kind == HyperLogLog {
			continue
		}
		for v, bit := u-1, 1<<(lowBits-1); bit > 0 && v > 0; v, bit = v-1, bit>>1 {
			if r&bit != 0 {
				l.seen[v] += n
			} else {
				l.unseen += math.Ldexp(n, -v)
			}
		}
	}
	return l
}

// occurred returns how many different rhos of registers are known to have come.
// No fewer elements were added.
func (l *likelihood) occurred() float64 {
	var n float64
	for _, seen := range l.seen {
		n += seen
	}
	return n
}

// maximum returns the x at which l is greatest, and the variance of such an x
// as a fraction of x²: the inverse of the observed Fisher information about
// log x. It is 0 if nothing was seen, and infinite if all was.
//
// The slope over log x, which is 0 there, is sum(seen[v] * g(x/2^v)) - unseen*x
// with g(y) = y/(e^y-1). It falls and is convex, so Newton's method, from the
// left, never passes the root. The start, by Jensen's inequality, is left of it.
func (l *likelihood) maximum() (x, variance float64) {
	const close = 1e-7 // the next step would be about its square
	var mean float64
	top := 0
	for v, n := range l.seen {
		if n > 0 {
			mean += math.Ldexp(n, -v)
			top = v
		}
	}
	switch n := l.occurred(); {
	case n == 0:
		return 0, 0
	case l.unseen == 0:
		return math.Inf(1), 0
	default:
		mean /= n
		x = math.Log1p(n*mean/l.unseen) / mean
	}
	for {
		slope, information := l.at(x, top)
		step := slope / information
		x += x * step
		if !(step >= close) {
			return x, 1 / information
		}
	}
}

// at returns the slope of l over log x, and how fast it falls there. No rho above
// top was seen.
func (l *likelihood) at(x float64, top int) (slope, information float64) {
	// From one rho to that below it y doubles, and with e = e^y - 1 so does the
	// logarithm of e+1.
	y := math.Ldexp(x, -top)
	e := math.Expm1(y)
	for v := top; v > 0; v-- {
		if n := l.seen[v&(rhoLimit-1)]; n > 0 {
			g := y / e
			slope += n * g
			information += n * g * (y + g - 1)
		}
		y *= 2
		e *= e + 2
	}
	return slope - l.unseen*x, information + l.unseen*x
}
