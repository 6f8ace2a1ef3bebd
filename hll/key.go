package hll

import "math/bits"

// keyBits is how many leading bits of a hash a small sketch tells elements
// apart by. It is axiomhq/hyperloglog's sparse precision, and with it the unit
// of that format.
const keyBits = 25

// A key is an element of a small sketch: as much of its hash as the sketch's
// precision p, and the wire format, call for. It is one of
//
//	25 bits of the hash | 0                  if any of bits p to 25 is set
//	25 bits of the hash | 6 bits of rho | 1  if none is
//
// where rho counts the zero bits that follow the 25, plus one. In the first
// form the register's value lies within the 25 bits. Each hash has one key at
// each precision, and no key is 0.
type key uint32

const (
	// rhoBits is the width of the rho in a key: it is at most
	// 64 - keyBits + 1 = 40.
	rhoBits = 6
	maxRho  = 64 - keyBits + 1
)

func keyOf(h uint64, p uint8) key {
	top := uint32(h >> (64 - keyBits))
	if top&(1<<(keyBits-p)-1) != 0 {
		return key(top << 1)
	}
	return longKey(top, rhoAfter(h, keyBits))
}

func longKey(top uint32, rho uint8) key {
	return key(top<<(rhoBits+1) | uint32(rho)<<1 | 1)
}

// rhoAfter counts the zero bits of h after its first n, plus one; the first n
// bits put an end to the count.
func rhoAfter(h uint64, n uint8) uint8 {
	return uint8(bits.LeadingZeros64(h<<(n&63)|1<<((n-1)&63))) + 1
}

// long reports whether k is of the second form.
func (k key) long() bool { return k&1 != 0 }

// top returns the first 25 bits of the hash.
func (k key) top() uint32 {
	if k.long() {
		return uint32(k >> (rhoBits + 1))
	}
	return uint32(k >> 1)
}

// rho returns the rho of a long key.
func (k key) rho() uint8 { return uint8(k>>1) & (1<<rhoBits - 1) }

// register returns which register k sets at precision p, and to what.
func (k key) register(p uint8) (i uint32, rho uint8) {
	top, rest := k.top(), keyBits-p
	i = top >> rest
	if k.long() {
		return i, k.rho() + rest
	}
	return i, rest - uint8(bits.Len32(top&(1<<rest-1))) + 1
}

// coarser returns the key at precision p of a hash that has key k at a
// precision of at least p.
func (k key) coarser(p uint8) key {
	if top := k.top(); k.long() && top&(1<<(keyBits-p)-1) != 0 {
		return key(top << 1)
	}
	return k
}

// valid reports whether some hash has key k at precision p.
func (k key) valid(p uint8) bool {
	inTop := k.top()&(1<<(keyBits-p)-1) != 0
	if k.long() {
		return !inTop && 1 <= k.rho() && k.rho() <= maxRho
	}
	return inTop && k>>(keyBits+1) == 0
}
