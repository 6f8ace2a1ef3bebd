package hll

// How a sketch works inside.
//
// # Terms
//
// A hash has 64 bits. Its first p choose one of 2^p registers; rho is the number
// of zeros that follow, plus one. A register holds the greatest rho it has seen,
// and whether it has seen the two below; see register.go. A key is what is left
// of a hash in a small sketch: its first 25 bits, and the rho after them where
// they do not reach as far as the register's.
//
//	Sketch ── state ─┬─ keySet ─┬─ table    32-bit slots     up to 1,536 keys
//	                 │  (small) └─ packed   16-bit slots     up to 7/16 * 2^p
//	                 └─ registers (large)   2^p bytes
//
// A state never changes its form or its size. To grow, a bigger one is filled
// and takes its place.
//
// # Invariants
//
//  1. Only the holder of the mutex inserts a key or replaces the state. So no
//     key is inserted into a state that has been replaced, and the switch to
//     registers, which copies the keys under the mutex, misses none. An Add
//     that loaded an old state, and does not find its element there, takes the
//     mutex and looks at the state of then.
//  2. Slots go from empty to a key and no further, registers from union to
//     union. So whoever reads sees each of them as it was at some time since
//     the read began, and none of an Add that returned before is missing.
//  3. A key is counted before it can be found. So an Add that finds its
//     element, which another is just inserting, may return at once.
//  4. The state depends on the set of keys alone: it is small if and only if
//     there are at most smallMax of them and nothing large was merged in.
//  5. A state is marked plain before registers of a HyperLogLog come into it,
//     and readers look at the mark after the registers. So nobody takes the
//     low bits of such registers for knowledge. The mark cannot be a new state,
//     as an Add to the old one takes no lock and would be lost.
//
// # Choices
//
// smallMax is where the keys would take more room than the registers. A sorted
// and compressed list, as in axiomhq/hyperloglog, takes no less but cannot be
// read while it is written. A lock-free insert would gain little, as a small
// sketch sees at most smallMax of them; it would have to freeze slots to move
// them. Packed registers, HyperLogLog's of six bits or longer ones (ExaLogLog),
// would save more memory for the same error, for registers across words at each
// Add. Maximum likelihood is 2.7 % more precise than UltraLogLog's fast estimator
// (0.594 % to 0.611 % at precision 14), needs no cases for few or many elements,
// serves both kinds and yields the error of the very sketch. The fast one would
// never fall; see the package documentation.
//
// # Limits
//
// Hashes that are not spread evenly cost memory in a small sketch, up to five
// times that of the registers, and accuracy in any. A goroutine that loses the
// processor while it holds the mutex holds up the Adds of new elements to that
// one small sketch.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// A Sketch counts distinct elements. The zero Sketch is empty and has the
// default Options. All methods may be called from any number of goroutines at
// once. A Sketch must not be copied after first use; see Clone.
//
// An Add synchronizes before any read that counts its element, and every read
// that begins after an Add returned counts it.
type Sketch struct {
	state atomic.Pointer[state] // nil: empty, at DefaultPrecision
	mu    sync.Mutex            // held to change state, and to insert a key
	seed  uint64
	hash  Hash
}

// New returns an empty sketch.
func New(o Options) (*Sketch, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Sketch{hash: o.Hash, seed: o.Seed}
	if o.Precision != 0 && o.Precision != DefaultPrecision {
		s.state.Store(&state{p: uint8(o.Precision)})
	}
	return s, nil
}

// Options returns the options that make a sketch like s.
func (s *Sketch) Options() Options {
	return Options{Precision: int(s.current().p), Hash: s.hash, Seed: s.seed}
}

// Scheme says how s hashes elements.
func (s *Sketch) Scheme() Scheme { return s.Options().Scheme() }

// Add counts b unless it has been counted before. It keeps no reference to b.
// It allocates nothing once the sketch is large.
func (s *Sketch) Add(b []byte) {
	var h uint64
	if s.plain() {
		h = xxhash.Sum64(b)
	} else {
		h = s.Hash(b)
	}
	if st := s.current(); !st.regs.settled(h, st.p) {
		s.count(h)
	}
}

// AddString is Add for a string. The two count the same bytes once.
func (s *Sketch) AddString(str string) {
	var h uint64
	if s.plain() {
		h = xxhash.Sum64String(str)
	} else {
		h = s.HashString(str)
	}
	if st := s.current(); !st.regs.settled(h, st.p) {
		s.count(h)
	}
}

// AddHash counts the element whose hash is h. A weak hash gives wrong counts: its
// bits must be spread evenly, all 64 of them. FNV-1a, as in hash/fnv, is weak: a
// million decimal numbers count as 127,000. Pass such a hash, or a number that
// counts up, through Mix. XXH64 and SipHash are good as they are.
//
// Elements with the same hash are one.
func (s *Sketch) AddHash(h uint64) {
	if st := s.current(); !st.regs.settled(h, st.p) {
		s.count(h)
	}
}

// count counts h. An Add takes the mutex only for a key that a small sketch
// does not have: smallMax times in a sketch's life, and once more for each
// race that it loses.
func (s *Sketch) count(h uint64) {
	if !s.current().count(h) {
		s.insert(h)
	}
}

// insert counts h in whatever state s has by now.
func (s *Sketch) insert(h uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.current()
	s.become(st.withKey(keyOf(h, st.p)))
}

func (s *Sketch) current() *state {
	if st := s.state.Load(); st != nil {
		return st
	}
	return &emptyState
}

// become makes st the state of s, whose mutex the caller holds.
func (s *Sketch) become(st *state) {
	if s.state.Load() != st {
		s.state.Store(st)
	}
}

// Reset empties s. An Add that runs at the same time counts either before, and
// is forgotten, or after. A window that must not lose one takes a new Sketch
// instead.
func (s *Sketch) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Store(&state{p: s.current().p})
}

// Clone returns a copy of s, which shares nothing with it.
func (s *Sketch) Clone() *Sketch {
	c := &Sketch{hash: s.hash, seed: s.seed}
	c.state.Store(s.current().clone())
	return c
}

// Merge counts all that other has counted. It needs the same Scheme, or
// returns an error that wraps ErrScheme and names both. An other that is finer
// than s is folded to the precision of s, as though it had had that from the
// start; for one that is coarser the error wraps ErrPrecision. After an error
// s is as it was.
//
// Merging sketches gives the sketch of all their elements, whatever the order
// and however often: merging is commutative, associative and idempotent.
func (s *Sketch) Merge(other *Sketch) error {
	if ours, theirs := s.Scheme(), other.Scheme(); ours != theirs {
		return fmt.Errorf("%w: cannot merge %v into %v", ErrScheme, theirs, ours)
	}
	from := other.current() // other's mutex stays out of this: no order to keep
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.current()
	if from.p < st.p {
		return fmt.Errorf("%w: cannot merge precision %d into %d", ErrPrecision, from.p, st.p)
	}
	s.become(st.union(from))
	return nil
}

// Union returns a sketch of all that a and b have counted, which stay as they are.
// It has the options of the coarser of them. Schemes that differ are an error that
// wraps ErrScheme.
func Union(a, b *Sketch) (*Sketch, error) {
	if b.current().p < a.current().p {
		a, b = b, a
	}
	u := a.Clone()
	if err := u.Merge(b); err != nil {
		return nil, err
	}
	return u, nil
}

// Size returns the bytes of memory that s takes, itself included.
func (s *Sketch) Size() int {
	size := int(unsafe.Sizeof(*s))
	st := s.state.Load()
	if st == nil {
		return size
	}
	size += int(unsafe.Sizeof(*st)) + len(st.regs)*wordBytes
	if st.keys != nil {
		size += int(unsafe.Sizeof(*st.keys)) + st.keys.size()
	}
	return size
}
