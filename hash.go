package hotcount

import (
	"math/bits"
	"math/rand/v2"
)

// A hasher hashes label values under a secret key.
//
// The key matters because label values come from strangers: against an unkeyed
// hash anyone can prepare values that all meet in one run of slots, and make
// each look-up walk past them.
//
// The function is the multiply-and-fold of wyhash, which the Go runtime also
// uses for its maps where the processor has no AES. hash/maphash would do; its
// fixed cost on a string of three bytes is more than the rest of a look-up.
type hasher struct {
	word, tail uint64
	mask       uint64 // all ones; tests clear it to make every two keys collide
}

func newHasher() hasher {
	// Odd, so that multiplying by one loses nothing.
	return hasher{word: rand.Uint64() | 1, tail: rand.Uint64() | 1, mask: ^uint64(0)}
}

// add folds one more string into h, which is a seed or what add returned before.
// Hashing "a","bc" differs from "ab","c", since each string's length goes in
// with its last bytes.
func (k *hasher) add(h uint64, s string) uint64 {
	n := uint64(len(s))
	for len(s) > 8 {
		h = fold(h^(uint64(load32(s))|uint64(load32(s[4:]))<<32), k.word)
		s = s[8:]
	}
	var last uint64
	switch {
	case len(s) >= 4: // the halves may overlap
		last = uint64(load32(s)) | uint64(load32(s[len(s)-4:]))<<32
	case len(s) > 0: // first, middle and last are all there are
		last = uint64(s[0]) | uint64(s[len(s)/2])<<8 | uint64(s[len(s)-1])<<16
	}
	return fold(h^last, k.tail^n<<1)
}

// finish returns the hash of the strings added to h. One more round is what it
// takes for keys that differ in few bits to spread like random ones.
func (k *hasher) finish(h uint64) uint64 { return fold(h, k.word) & k.mask }

func load32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// fold multiplies to 128 bits and folds them to 64, so that each bit of a
// reaches the bits that choose a shard and those that choose a slot.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
