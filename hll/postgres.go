package hll

import (
	"math/bits"
	"slices"
)

// The storage format of postgresql-hll, type FULL:
//
//	0  version 1 << 4 | type 4
//	1  (width of a register - 1) << 5 | precision
//	2  the defaults for what the extension does with small sketches
//	3  the registers, from the most significant bit of the first byte on
//
// A width of 5 is what the extension's own default and its estimator are made
// for. At 6 it reads the sketch, but counts NaN from about 100,000 up.
const (
	postgresFull   = 1<<4 | 4
	postgresWidth  = 5
	postgresMaxRho = 1<<postgresWidth - 1
	postgresSmall  = 1<<6 | 63 // sparse enabled, explicit threshold automatic
)

// AppendPostgres appends s in the storage format of the PostgreSQL extension
// hll (postgresql-hll), which a bytea casts to: an hll with log2m the precision
// of s, and regwidth 5.
//
// Registers stop at 31 there. Elements that the extension itself adds to such
// an hll are counted a second time, as it hashes differently. To count them
// once, AddHash(bits.Reverse64(h)) the values h of its own hash functions.
func (s *Sketch) AppendPostgres(dst []byte) []byte {
	st := s.current()
	size := 1 << st.p * postgresWidth / 8
	dst = slices.Grow(dst, 3+size)
	dst = append(dst, postgresFull, (postgresWidth-1)<<5|st.p, postgresSmall)
	at := len(dst)
	dst = dst[:at+size]
	clear(dst[at:])
	for i, rho := range st.rhosAt(st.p) {
		// The extension takes the register from the low bits of the hash.
		putBitsHigh(dst[at:], bits.Reverse32(i)>>(32-st.p), postgresWidth, min(rho, postgresMaxRho))
	}
	return dst
}

// putBitsHigh sets entry i, which is 0, of an array of entries of width bits,
// the most significant bit of a byte first.
func putBitsHigh(b []byte, i, width uint32, v uint8) {
	at, end := i*width/8, i*width%8+width
	if end <= 8 {
		b[at] |= v << (8 - end)
		return
	}
	b[at] |= v >> (end - 8)
	b[at+1] |= v << (16 - end)
}
