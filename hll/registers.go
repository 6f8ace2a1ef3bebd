package hll

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// registers are the 2^p registers of a large sketch, four to a word, the lowest
// in the low byte. What a register knows only ever grows. Once others can see
// them, all access is atomic.
type registers []uint32

const (
	wordBytes = 4
	byteBits  = 8
	wordBits  = wordBytes * byteBits
)

func newRegisters(p uint8) registers { return make(registers, 1<<p/wordBytes) }

// registerOf returns which register h chooses at precision p, and the rho it
// brings there.
func registerOf(h uint64, p uint8) (i uint32, rho uint8) {
	return uint32(h >> (64 - p)), rhoAfter(h, p)
}

// settled reports whether h changes nothing, as is nearly always so. It is small
// enough for the compiler to inline, and costs one load from lines that every
// core can hold at once. It is false where there are no registers, and may be of
// a hash whose zeros reach its end: add knows.
func (rs registers) settled(h uint64, p uint8) bool {
	turned := bits.RotateLeft64(h, int(p)) // the number of the register is last
	return len(rs) > 0 &&
		register(atomic.LoadUint32(&rs[turned/wordBytes&uint64(len(rs)-1)])>>(turned*byteBits&(wordBits-1))).
			has(bits.LeadingZeros64(turned|zerosEnd))
}

// add unites register i with r.
func (rs registers) add(i uint32, r register) {
	w, shift := &rs[i/wordBytes], i%wordBytes*byteBits
	for {
		old := atomic.LoadUint32(w)
		have := register(old >> shift)
		if next := have.union(r); next == have ||
			atomic.CompareAndSwapUint32(w, old, old^uint32(have^next)<<shift) {
			return
		}
	}
}

// addPair unites the registers of words w and w+1, which were ours, with those
// of theirs, so that they become next.
func (rs registers) addPair(w int, theirs, ours, next uint64) {
	for {
		if rs.swap(w, uint32(ours), uint32(next)) && rs.swap(w+1, uint32(ours>>wordBits), uint32(next>>wordBits)) {
			return
		}
		ours = rs.pair(w)
		next = unionEight(ours, theirs)
	}
}

// pair reads words w and w+1.
func (rs registers) pair(w int) uint64 {
	return uint64(atomic.LoadUint32(&rs[w])) | uint64(atomic.LoadUint32(&rs[w+1]))<<wordBits
}

func (rs registers) swap(w int, old, next uint32) bool {
	return old == next || atomic.CompareAndSwapUint32(&rs[w], old, next)
}

// unionEight is register.union of each pair of bytes. A truth about each byte is
// in its top bit.
func unionEight(a, b uint64) uint64 {
	const (
		ones = 0x0101010101010101
		tops = ones << (byteBits - 1)
		rhos = ones * (0xff >> lowBits)
	)
	// Of bytes whose top bits agree, the rest decides which is less.
	less := (^a&b | ^(a^b)&^(a|tops-b&^tops)) & tops
	swap := (a ^ b) & (less<<1 - less>>(byteBits-1))
	high, low := a^swap, b^swap
	by := high>>lowBits&rhos - low>>lowBits&rhos
	some := (low | tops) - ones | low // low is not 0
	from1, from2, from3 := by+(tops-ones), by+(tops-2*ones), by+(tops-3*ones)
	by0 := (^from1 & tops) >> (byteBits - 1)
	by1 := (from1 &^ from2 & some & tops) >> (byteBits - 1)
	by2 := (from2 &^ from3 & some & tops) >> (byteBits - 1)
	return high | low&(by0<<1|by0) | by1<<1 | low>>1&by1 | by2
}

// all yields the registers that are not 0.
func (rs registers) all(yield func(i uint32, r register) bool) {
	for w := range rs {
		base := uint32(w) * wordBytes
		for v := atomic.LoadUint32(&rs[w]); v != 0; {
			lane := uint32(bits.TrailingZeros32(v)) / byteBits
			if !yield(base+lane, register(v>>(lane*byteBits))) {
				return
			}
			v &^= 0xff << (lane * byteBits)
		}
	}
}

// appendBytes appends a byte for each register.
func (rs registers) appendBytes(dst []byte) []byte {
	for i := range rs {
		dst = binary.LittleEndian.AppendUint32(dst, atomic.LoadUint32(&rs[i]))
	}
	return dst
}

// setBytes sets each register, before others see them, to its byte of b.
func (rs registers) setBytes(b []byte) {
	for i := range rs {
		rs[i] = binary.LittleEndian.Uint32(b[i*wordBytes:])
	}
}

// A histogram counts registers by value.
type histogram [1 << byteBits]uint32

func (rs registers) histogram() histogram {
	// Four tables, as neighbours are often equal, and a count that was just
	// stored is slow to load.
	var lanes [wordBytes]histogram
	for i := range rs {
		v := atomic.LoadUint32(&rs[i])
		lanes[0][uint8(v)]++
		lanes[1][uint8(v>>8)]++
		lanes[2][uint8(v>>16)]++
		lanes[3][uint8(v>>24)]++
	}
	h := lanes[0]
	for _, lane := range lanes[1:] {
		for v, n := range lane {
			h[v] += n
		}
	}
	return h
}
