package hll

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Precisions: a sketch of precision p has 2^p registers.
const (
	MinPrecision     = 4
	MaxPrecision     = 18
	DefaultPrecision = 14
)

var (
	// ErrOptions is wrapped by every error about Options.
	ErrOptions = errors.New("hotcount/hll: invalid options")

	// ErrScheme is wrapped when sketches that hash differently meet.
	ErrScheme = errors.New("hotcount/hll: sketches hash differently")

	// ErrPrecision is wrapped when a sketch is too coarse for what is asked
	// of it.
	ErrPrecision = errors.New("hotcount/hll: precision too low")

	// ErrFormat is wrapped by every error about encoded sketches.
	ErrFormat = errors.New("hotcount/hll: malformed sketch")
)

// A Hash is a function from elements to 64 bits.
type Hash uint8

const (
	// XXHash is XXH64, fast and the default.
	XXHash Hash = iota

	// Redis is the hash of Redis' PFADD: MurmurHash64A with its fixed seed.
	// A sketch with it and precision 14 has the very registers that Redis
	// would have, so AppendRedis and PFADD may feed one key.
	Redis
)

// String returns "xxhash" or "redis".
func (h Hash) String() string {
	switch h {
	case XXHash:
		return "xxhash"
	case Redis:
		return "redis"
	}
	return fmt.Sprintf("hash %d", uint8(h))
}

// Options describe a sketch. The zero Options are the defaults.
type Options struct {
	// Precision is the base-2 logarithm of the number of registers, 4 to
	// 18; 0 means 14. The standard error is 0.761/sqrt(2^Precision), the
	// memory 2^Precision bytes once the sketch is large.
	Precision int

	// Hash is how Add and AddString hash elements.
	Hash Hash

	// Seed, if not 0, changes XXHash so that someone who does not know it
	// cannot look for elements that fool the sketch in a public table. See
	// the package documentation for what it does not do. Sketches merge
	// only if their seeds are equal. Redis has no seed.
	Seed uint64
}

func (o Options) check() error {
	if o.Precision != 0 && (o.Precision < MinPrecision || o.Precision > MaxPrecision) {
		return fmt.Errorf("%w: precision %d is not in %d to %d", ErrOptions, o.Precision, MinPrecision, MaxPrecision)
	}
	if o.Hash > Redis {
		return fmt.Errorf("%w: unknown %v", ErrOptions, o.Hash)
	}
	if o.Hash == Redis && o.Seed != 0 {
		return fmt.Errorf("%w: the redis hash takes no seed", ErrOptions)
	}
	return nil
}

// Scheme returns the scheme of sketches made with o.
func (o Options) Scheme() Scheme {
	s := Scheme{Hash: o.Hash}
	if o.Seed != 0 {
		sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, o.Seed))
		s.SeedPrint = binary.LittleEndian.Uint64(sum[:])
	}
	return s
}

// A Scheme says how the elements of a sketch were hashed. Sketches count the
// same element once only if their Schemes are ==. It does not contain the
// seed, so it may be stored and shown.
type Scheme struct {
	Hash      Hash
	SeedPrint uint64 // fingerprint of the seed: 0 for none, else 64 bits of its SHA-256
}

// String returns the hash's name, followed by the fingerprint of the seed if
// there is one.
func (s Scheme) String() string {
	if s.SeedPrint == 0 {
		return s.Hash.String()
	}
	return fmt.Sprintf("%v seed %016x", s.Hash, s.SeedPrint)
}
