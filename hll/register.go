package hll

import "math/bits"

// A register is what a large sketch keeps of the hashes that chose it: of their
// rhos the greatest, u, and whether two below it occurred.
//
//	u (6 bits) | u-1 occurred | u-2 occurred
//
// Zero is a register that no hash chose. It is that of UltraLogLog (O. Ertl,
// "UltraLogLog: A Practical and More Space-Efficient Alternative to HyperLogLog
// for Approximate Distinct Counting", 2024, arXiv:2308.16862), lower by a
// constant where u is not 0. Its upper six bits are the register of HyperLogLog,
// and stay so whatever is done to it.
type register uint8

const (
	lowBits  = 2
	lowMask  = 1<<lowBits - 1
	occurred = 1 << lowBits // above the two: u itself occurred
)

// registerAt returns the register that a hash with this rho leaves of an empty
// one.
func registerAt(rho uint8) register { return register(rho << lowBits) }

// rho returns the register of HyperLogLog.
func (r register) rho() uint8 { return uint8(r >> lowBits) }

// union returns what all hashes of r and s leave.
func (r register) union(s register) register {
	high, low := max(r, s), min(r, s)
	if low == 0 {
		return high
	}
	return high | (occurred|low&lowMask)>>(high>>lowBits-low>>lowBits)&lowMask
}

// zerosEnd is for the end of a hash that is shifted to what follows its first
// bits, whatever the precision. Before it there are no more zeros than has takes.
const zerosEnd = 1 << (MinPrecision - 1)

// has reports whether a hash with so many zeros, at most 60, leaves r as it is:
// whether their rho is below those that r tells apart, or one that it knows. The
// rhos that are neither are the zero bits of a number.
func (r register) has(zeros int) bool {
	const below = 1 // the bits under the last of the three
	return ((occurred+below+uint64(r&lowMask))<<(r>>lowBits)-1)>>((zeros+(1+lowBits))&63)&1 != 0
}

// coarser returns where register i of a sketch that is finer by n bits belongs,
// and what it leaves of an empty register there. It is r, which is not 0.
func (r register) coarser(i uint32, n uint8) (uint32, register) {
	if low := i & (1<<n - 1); low != 0 { // the first bit of all its hashes is here
		return i >> n, registerAt(n - uint8(bits.Len32(low)) + 1)
	}
	return i >> n, r + registerAt(n)
}

// valid reports whether some hashes leave r at precision p.
func (r register) valid(p uint8) bool {
	switch u := r.rho(); u { // no rho is 0 or less
	case 0, 1:
		return r&lowMask == 0
	case 2:
		return r&(lowMask>>1) == 0
	default:
		return u <= maxRhoAt(p)
	}
}

// maxRhoAt is the greatest rho at precision p: that of a hash whose other bits
// are all zero.
func maxRhoAt(p uint8) uint8 { return 64 - p + 1 }
