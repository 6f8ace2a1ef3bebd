package hll

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// registers are the 2^p registers of a large sketch, one a byte, four to a
// word, the lowest in the low byte. A register only ever grows.
type registers []atomic.Uint32

const (
	wordBytes = 4
	byteBits  = 8
)

func newRegisters(p uint8) registers { return make(registers, 1<<p/wordBytes) }

// registerOf returns which register h sets at precision p, and to what.
func registerOf(h uint64, p uint8) (i uint32, rho uint8) {
	return uint32(h >> (64 - p)), rhoAfter(h, p)
}

// raise sets register i to rho if it is lower.
func (r registers) raise(i uint32, rho uint8) {
	w, shift := &r[i/wordBytes], i%wordBytes*byteBits
	for {
		old := w.Load()
		if uint8(old>>shift) >= rho {
			return
		}
		if w.CompareAndSwap(old, old&^(0xff<<shift)|uint32(rho)<<shift) {
			return
		}
	}
}

// raiseAll raises each register to that of other, which has as many.
func (r registers) raiseAll(other registers) {
	for i := range other {
		theirs := other[i].Load()
		for {
			ours := r[i].Load()
			high := maxBytes(ours, theirs)
			if high == ours || r[i].CompareAndSwap(ours, high) {
				break
			}
		}
	}
}

// maxBytes returns the greater of each pair of bytes, none of which exceeds
// 127.
func maxBytes(a, b uint32) uint32 {
	const top = 0x80808080
	aWins := ((a | top) - b) & top // the top bit stays where a's byte is not less
	mask := aWins | (aWins - aWins>>7)
	return a&mask | b&^mask
}

// all yields the registers that are not 0.
func (r registers) all(yield func(i uint32, rho uint8) bool) {
	for w := range r {
		base := uint32(w) * wordBytes
		for v := r[w].Load(); v != 0; {
			lane := uint32(bits.TrailingZeros32(v)) / byteBits
			if !yield(base+lane, uint8(v>>(lane*byteBits))) {
				return
			}
			v &^= 0xff << (lane * byteBits)
		}
	}
}

// appendBytes appends a byte for each register.
func (r registers) appendBytes(dst []byte) []byte {
	for i := range r {
		dst = binary.LittleEndian.AppendUint32(dst, r[i].Load())
	}
	return dst
}

// setBytes sets each register, before others see them, to its byte of b.
func (r registers) setBytes(b []byte) {
	for i := range r {
		r[i].Store(binary.LittleEndian.Uint32(b[i*wordBytes:]))
	}
}

// coarserRegister returns where register i of a sketch that is finer by n bits
// belongs, and what its value rho becomes.
func coarserRegister(i uint32, rho, n uint8) (uint32, uint8) {
	if low := i & (1<<n - 1); low != 0 {
		return i >> n, n - uint8(bits.Len32(low)) + 1
	}
	return i >> n, rho + n
}

// A histogram counts registers by value. Values are at most
// 64 - MinPrecision + 1 = 61; a power of two spares the bounds checks.
type histogram [64]uint32

func (r registers) histogram() histogram {
	// Four tables, as neighbours are often equal, and a count that was just
	// stored is slow to load.
	var lanes [wordBytes]histogram
	const mask = uint32(len(histogram{}) - 1)
	for i := range r {
		v := r[i].Load()
		lanes[0][v&mask]++
		lanes[1][v>>8&mask]++
		lanes[2][v>>16&mask]++
		lanes[3][v>>24&mask]++
	}
	h := lanes[0]
	for _, lane := range lanes[1:] {
		for v, n := range lane {
			h[v] += n
		}
	}
	return h
}
