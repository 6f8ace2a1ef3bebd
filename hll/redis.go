package hll

import (
	"fmt"
	"math/bits"
	"slices"
)

// The format of Redis' hyperloglog.c, a string:
//
//	0   "HYLL"
//	4   0 dense, 1 sparse
//	5   three zero bytes
//	8   the last count, 8 bytes little-endian; its top bit: do not trust it
//	16  2^14 registers
//
// dense: six bits each, from the least significant bit of the first byte on.
// sparse: opcodes for runs of registers,
//
//	00xxxxxx           x+1 registers of 0
//	01xxxxxx yyyyyyyy  xy+1 registers of 0
//	1vvvvvxx           x+1 registers of v+1
const (
	redisMagic     = "HYLL"
	redisPrecision = 14
	redisDense     = 0
	redisSparse    = 1
	redisHeader    = 16
	redisStale     = 0x80 // in the last byte of the header

	redisRegisters    = 1 << redisPrecision
	redisRegisterBits = 6
	redisMaxRho       = 64 - redisPrecision + 1
	redisBytes        = redisHeader + redisRegisters*redisRegisterBits/8
)

// redisIndex maps a register's index to Redis', and back. Redis counts from the
// other end of the hash.
func redisIndex(i uint32) uint32 {
	return bits.Reverse32(i) >> (32 - redisPrecision)
}

// AppendRedis appends s in the dense format of Redis: 12,304 bytes that SET
// makes a key of, for PFCOUNT, PFMERGE and PFADD to work on. A sketch finer
// than Redis' precision of 14 is folded to it; a coarser one is an error that
// wraps ErrPrecision.
//
// Redis can not tell hashes apart. Elements that PFADD adds to such a key, or
// to one merged with it, are counted a second time unless the hash of s is
// Redis.
func (s *Sketch) AppendRedis(dst []byte) ([]byte, error) {
	st := s.current()
	if st.p < redisPrecision {
		return dst, fmt.Errorf("%w: redis needs %d, the sketch has %d", ErrPrecision, redisPrecision, st.p)
	}
	dst = slices.Grow(dst, redisBytes)
	dst = append(dst, redisMagic...)
	dst = append(dst, redisDense, 0, 0, 0)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, redisStale)
	at := len(dst)
	dst = dst[:at+redisBytes-redisHeader]
	clear(dst[at:])
	for i, rho := range st.rhosAt(redisPrecision) {
		putBitsLow(dst[at:], redisIndex(i), redisRegisterBits, min(rho, redisMaxRho))
	}
	return dst, nil
}

// putBitsLow sets entry i, which is 0, of an array of entries of width bits,
// the least significant bit of a byte first.
func putBitsLow(b []byte, i, width uint32, v uint8) {
	at, shift := i*width/8, i*width%8
	b[at] |= v << shift
	if shift+width > 8 {
		b[at+1] |= v >> (8 - shift)
	}
}

// ParseRedis returns the sketch in data, the value of a key that PFADD, PFMERGE
// or AppendRedis has made. The options say how its elements were hashed, which
// data does not: for a key that PFADD filled, Hash must be Redis. Their
// precision must be 14 or 0. Dense and sparse values are read, the count in
// the header is ignored. Errors about data wrap ErrFormat.
//
// The sketch is large and a HyperLogLog: Redis keeps less of each element than a
// small one needs.
func ParseRedis(data []byte, o Options) (*Sketch, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	if s.current().p != redisPrecision {
		return nil, fmt.Errorf("%w: redis has precision %d, not %d", ErrOptions, redisPrecision, o.Precision)
	}
	if len(data) < redisHeader || string(data[:len(redisMagic)]) != redisMagic {
		return nil, fmt.Errorf("%w: no redis header in %d bytes", ErrFormat, len(data))
	}
	if data[5]|data[6]|data[7] != 0 {
		return nil, fmt.Errorf("%w: redis header bytes 5 to 7 are not 0", ErrFormat)
	}
	st := newLarge(redisPrecision)
	st.plain.Store(true)
	switch data[4] {
	case redisDense:
		err = st.regs.setRedisDense(data)
	case redisSparse:
		err = st.regs.setRedisSparse(data[redisHeader:])
	default:
		err = fmt.Errorf("%w: redis encoding %d, want 0 or 1", ErrFormat, data[4])
	}
	if err != nil {
		return nil, err
	}
	s.state.Store(st)
	return s, nil
}

func (rs registers) setRedisDense(data []byte) error {
	if len(data) != redisBytes {
		return fmt.Errorf("%w: redis dense value of %d bytes, want %d", ErrFormat, len(data), redisBytes)
	}
	body := data[redisHeader:]
	for i := range uint32(redisRegisters) {
		at, shift := i*redisRegisterBits/8, i*redisRegisterBits%8
		v := body[at] >> shift
		if shift+redisRegisterBits > 8 {
			v |= body[at+1] << (8 - shift)
		}
		rho := v & (1<<redisRegisterBits - 1)
		if rho > redisMaxRho {
			return fmt.Errorf("%w: redis register %d is %d, at most %d is possible", ErrFormat, i, rho, redisMaxRho)
		}
		rs.add(redisIndex(i), registerAt(rho))
	}
	return nil
}

func (rs registers) setRedisSparse(body []byte) error {
	var i uint32
	for at := 0; at < len(body); at++ {
		var rho uint8
		var run uint32
		switch op := body[at]; {
		case op >= 0x80:
			rho, run = op>>2&0x1f+1, uint32(op&0x3)+1
		case op < 0x40:
			run = uint32(op) + 1
		case at+1 == len(body):
			return fmt.Errorf("%w: redis opcode %#02x at byte %d is cut short", ErrFormat, op, redisHeader+at)
		default:
			at++
			run = uint32(op&0x3f)<<8 | uint32(body[at]) + 1
		}
		if run > redisRegisters-i {
			return fmt.Errorf("%w: redis opcodes go past register %d at byte %d", ErrFormat, redisRegisters, redisHeader+at)
		}
		for range run {
			rs.add(redisIndex(i), registerAt(rho))
			i++
		}
	}
	if i != redisRegisters {
		return fmt.Errorf("%w: redis opcodes end at register %d of %d", ErrFormat, i, redisRegisters)
	}
	return nil
}
