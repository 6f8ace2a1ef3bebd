package hll

import (
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// Hash returns the hash of b that AddHash takes, so that an element that goes
// into several sketches with the same Scheme is hashed once.
//
// With XXHash that is XXH64. With Redis it is Redis' hash with its bits in
// reverse: Redis takes the register from the low bits, this package from the
// high ones.
func (s *Sketch) Hash(b []byte) uint64 {
	switch {
	case s.hash == Redis:
		return bits.Reverse64(murmur64A(b))
	case s.seed != 0:
		var d xxhash.Digest
		d.ResetWithSeed(s.seed)
		d.Write(b) // never fails
		return d.Sum64()
	}
	return xxhash.Sum64(b)
}

// HashString is Hash for a string.
func (s *Sketch) HashString(str string) uint64 {
	switch {
	case s.hash == Redis:
		return bits.Reverse64(murmur64A(str))
	case s.seed != 0:
		var d xxhash.Digest
		d.ResetWithSeed(s.seed)
		d.WriteString(str) // never fails
		return d.Sum64()
	}
	return xxhash.Sum64String(str)
}

// Mix makes a hash that AddHash can take of one whose bits are not spread evenly,
// such as FNV-1a, a sum, or a number that counts up. It takes about 1 ns and is
// one-to-one: hashes that differ still do. So it mends no hash of few bits: with
// 32, a million elements are counted as 116 fewer.
//
// It is the output function of SplitMix64 (Steele et al. 2014), and no help
// against elements that someone chooses.
func Mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15 // so that 0 is as good as any
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// plain reports whether elements are hashed by XXH64 without a seed, so that Add
// can do it with one call less.
func (s *Sketch) plain() bool { return s.hash == XXHash && s.seed == 0 }

// murmur64A is Austin Appleby's MurmurHash64A over little-endian words, with
// the seed that Redis' hyperloglog.c passes to it.
func murmur64A[T []byte | string](b T) uint64 {
	const (
		seed = 0xadc83b19
		m    = 0xc6a4a7935bd1e995
		r    = 47
	)
	h := seed ^ uint64(len(b))*m
	for len(b) >= 8 {
		k := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		k *= m
		k ^= k >> r
		k *= m
		h = (h ^ k) * m
		b = b[8:]
	}
	if len(b) > 0 {
		for i := range len(b) {
			h ^= uint64(b[i]) << (8 * i)
		}
		h *= m
	}
	h ^= h >> r
	h *= m
	h ^= h >> r
	return h
}
