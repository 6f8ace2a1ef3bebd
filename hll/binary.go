package hll

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The format is version 2 of github.com/axiomhq/hyperloglog, big-endian:
//
//	0  version (2)
//	1  precision
//	2  0
//	3  1 if keys follow, 0 if registers do
//
//	registers: uint32 number; a byte each
//	keys:      uint32 number; a uint32 each, in any order
//	           uint32 number; uint32 last; uint32 bytes; the bytes
//
// The second list of keys is sorted, its bytes are the varints of the
// differences. All keys are written there; both lists are read. The first holds
// no more than 2^precision.
//
// A register there has six bits. Registers of UltraLogLog, which that library
// does not know, follow a version that it will not take:
//
//	0  version ('U')
//	1  precision
//	2  0
//	3  0
//
//	registers: uint32 number; a byte each
const (
	axiomhqVersion = 2
	ultraVersion   = 'U'

	binaryHeader = 4
	binaryDense  = 0
	binarySparse = 1

	uint32Bytes = 4
	listHeader  = 3 * uint32Bytes
)

// AppendBinary implements encoding.BinaryAppender. It appends all that s knows,
// for UnmarshalBinary. A sketch that is small or a HyperLogLog is in the format
// of AppendAxiomhq; for others that has no room.
//
// The format has no place for the Scheme: keep it beside, and compare it before
// you merge. Equal sketches of the same Kind have equal bytes. The error is always
// nil.
func (s *Sketch) AppendBinary(dst []byte) ([]byte, error) {
	st := s.current()
	if st.regs == nil {
		return appendKeys(dst, st), nil
	}
	dst, registers := appendDense(dst, st)
	if st.kind() == HyperLogLog { // asked after the registers were read
		makePlain(registers)
		return dst, nil
	}
	dst[len(dst)-len(registers)-binaryHeader-uint32Bytes] = ultraVersion
	return dst, nil
}

// MarshalBinary implements encoding.BinaryMarshaler. See AppendBinary.
func (s *Sketch) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendAxiomhq appends s in version 2 of the format of
// github.com/axiomhq/hyperloglog: keys if s is small, else its registers as a
// HyperLogLog.
//
// That library, and UnmarshalBinary, read it. It has no place for the Scheme.
func (s *Sketch) AppendAxiomhq(dst []byte) []byte {
	st := s.current()
	if st.regs == nil {
		return appendKeys(dst, st)
	}
	dst, registers := appendDense(dst, st)
	makePlain(registers)
	return dst
}

// appendDense appends the registers of st behind a header, and returns the place
// of the registers, too.
func appendDense(dst []byte, st *state) (all, registers []byte) {
	size := len(st.regs) * wordBytes
	dst = slices.Grow(dst, binaryHeader+uint32Bytes+size)
	dst = append(dst, axiomhqVersion, st.p, 0, binaryDense)
	dst = binary.BigEndian.AppendUint32(dst, 1<<st.p)
	dst = st.regs.appendBytes(dst)
	return dst, dst[len(dst)-size:]
}

// makePlain makes registers those of HyperLogLog in axiomhq's format.
func makePlain(registers []byte) {
	for i, r := range registers {
		registers[i] = register(r).rho()
	}
}

func appendKeys(dst []byte, st *state) []byte {
	keys := slices.AppendSeq(make([]key, 0, st.len()), st.all)
	slices.Sort(keys)
	dst = append(dst, axiomhqVersion, st.p, 0, binarySparse)
	dst = binary.BigEndian.AppendUint32(dst, 0) // no unsorted keys
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(keys)))
	head := len(dst)
	dst = append(dst, make([]byte, 2*uint32Bytes)...)
	var last key
	for _, k := range keys {
		dst = binary.AppendUvarint(dst, uint64(k-last))
		last = k
	}
	binary.BigEndian.PutUint32(dst[head:], uint32(last))
	binary.BigEndian.PutUint32(dst[head+uint32Bytes:], uint32(len(dst)-head-2*uint32Bytes))
	return dst
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It replaces what s has
// counted, and its precision, by what data says; the hash and the seed of s
// stay, and must be those of the sketch that was encoded. It reads what
// AppendBinary and github.com/axiomhq/hyperloglog, version 2, write. After an
// error, which wraps ErrFormat, s is as it was.
//
// It allocates no more than 2^precision bytes and 24 bytes for each byte of
// data.
func (s *Sketch) UnmarshalBinary(data []byte) error {
	st, err := decodeBinary(data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Store(st)
	return nil
}

func decodeBinary(data []byte) (*state, error) {
	if len(data) < binaryHeader+uint32Bytes {
		return nil, fmt.Errorf("%w: %d bytes are too few for a header", ErrFormat, len(data))
	}
	version, p, zero, form := data[0], data[1], data[2], data[3]
	switch {
	case version != axiomhqVersion && version != ultraVersion:
		return nil, fmt.Errorf("%w: version %d, want %d or %d", ErrFormat, version, axiomhqVersion, ultraVersion)
	case p < MinPrecision || p > MaxPrecision:
		return nil, fmt.Errorf("%w: precision %d is not in %d to %d", ErrFormat, p, MinPrecision, MaxPrecision)
	case zero != 0:
		return nil, fmt.Errorf("%w: byte 2 is %d, want 0", ErrFormat, zero)
	case form == binaryDense && version == ultraVersion:
		return decodeUltra(data, p)
	case form == binaryDense:
		return decodePlain(data, p)
	case form == binarySparse && version == axiomhqVersion:
		return decodeKeys(data, p)
	}
	return nil, fmt.Errorf("%w: byte 3 of version %d is %d", ErrFormat, version, form)
}

func decodeUltra(data []byte, p uint8) (*state, error) {
	body, err := denseBody(data, p)
	if err != nil {
		return nil, err
	}
	for i, r := range body {
		if !register(r).valid(p) {
			return nil, fmt.Errorf("%w: register %d is %#02x, which no elements leave", ErrFormat, i, r)
		}
	}
	st := newLarge(p)
	st.regs.setBytes(body)
	return st, nil
}

func decodePlain(data []byte, p uint8) (*state, error) {
	body, err := denseBody(data, p)
	if err != nil {
		return nil, err
	}
	st := newLarge(p)
	st.plain.Store(true)
	for i, rho := range body {
		if rho > maxRhoAt(p) {
			return nil, fmt.Errorf("%w: register %d is %d, at most %d is possible", ErrFormat, i, rho, maxRhoAt(p))
		}
		st.regs[i/wordBytes] |= uint32(registerAt(rho)) << (i % wordBytes * byteBits)
	}
	return st, nil
}

// denseBody returns the registers in data.
func denseBody(data []byte, p uint8) ([]byte, error) {
	n, body := binary.BigEndian.Uint32(data[binaryHeader:]), data[binaryHeader+uint32Bytes:]
	if n != 1<<p || len(body) != 1<<p {
		return nil, fmt.Errorf("%w: %d registers in %d bytes, want %d of each", ErrFormat, n, len(body), 1<<p)
	}
	return body, nil
}

// decodeKeys checks all of data before it makes a sketch of it.
func decodeKeys(data []byte, p uint8) (*state, error) {
	n, rest := binary.BigEndian.Uint32(data[binaryHeader:]), data[binaryHeader+uint32Bytes:]
	if uint64(len(rest)) < uint64(n)*uint32Bytes+listHeader {
		return nil, fmt.Errorf("%w: %d bytes are too few for %d keys and a list", ErrFormat, len(rest), n)
	}
	if n > 1<<p {
		return nil, fmt.Errorf("%w: %d unsorted keys, at most %d are allowed", ErrFormat, n, 1<<p)
	}
	split := int(n) * uint32Bytes
	unsorted, rest := rest[:split], rest[split:]
	listed, last := binary.BigEndian.Uint32(rest), key(binary.BigEndian.Uint32(rest[uint32Bytes:]))
	size, list := binary.BigEndian.Uint32(rest[2*uint32Bytes:]), rest[listHeader:]
	if uint64(size) != uint64(len(list)) {
		return nil, fmt.Errorf("%w: list of %d bytes, want %d", ErrFormat, len(list), size)
	}
	keys := make([]key, 0, int(n)+len(list))
	for i := 0; i < len(unsorted); i += uint32Bytes {
		keys = append(keys, key(binary.BigEndian.Uint32(unsorted[i:])))
	}
	var k key
	for i := uint32(0); len(list) > 0; i++ {
		delta, n := binary.Uvarint(list)
		next := uint64(k) + delta
		if n <= 0 || n > 1 && list[n-1] == 0 || delta >= 1<<32 || next >= 1<<32 || delta == 0 && i > 0 {
			return nil, fmt.Errorf("%w: bad difference to key %d of the list", ErrFormat, i)
		}
		k, list = key(next), list[n:]
		keys = append(keys, k)
	}
	if sorted := len(keys) - int(n); uint64(sorted) != uint64(listed) || k != last {
		return nil, fmt.Errorf("%w: list of %d keys up to %d, want %d up to %d", ErrFormat, sorted, k, listed, last)
	}
	for _, k := range keys {
		if !k.valid(p) {
			return nil, fmt.Errorf("%w: %#08x is no key at precision %d", ErrFormat, uint32(k), p)
		}
	}
	st := newState(p, len(keys))
	for _, k := range keys {
		st = st.withKey(k)
	}
	return st, nil
}
