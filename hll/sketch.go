package hll

import (
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"unsafe"
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

// state is what a sketch has counted: keys, or registers once it is large.
// Which of the two, and p, never change; the sketch moves on to another state.
type state struct {
	p    uint8
	regs registers // nil while small
	keys *keySet   // nil when empty or large
}

// emptyState is the state of a zero Sketch. Nothing changes it: it has no keys
// to insert into and no registers to raise.
var emptyState = state{p: DefaultPrecision}

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
func (s *Sketch) Add(b []byte) { s.AddHash(s.Hash(b)) }

// AddString is Add for a string. The two count the same bytes once.
func (s *Sketch) AddString(str string) { s.AddHash(s.HashString(str)) }

// AddHash counts the element whose hash is h. Elements with the same hash are
// one; hashes must be spread evenly over all 64 bits.
func (s *Sketch) AddHash(h uint64) {
	st := s.state.Load()
	if st == nil || st.regs == nil {
		s.addSmall(h)
		return
	}
	i, rho := registerOf(h, st.p)
	st.regs.raise(i, rho)
}

func (s *Sketch) addSmall(h uint64) {
	if st := s.current(); st.has(h) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.become(s.current().with(h))
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

// has reports whether h has been counted, if st is small. A large state does
// not know.
func (st *state) has(h uint64) bool {
	return st.keys != nil && st.keys.has(keyOf(h, st.p))
}

// with counts h and returns st, or the state to take its place. The caller
// holds the sketch's mutex.
func (st *state) with(h uint64) *state {
	if st.regs != nil {
		st.regs.raise(registerOf(h, st.p))
		return st
	}
	return st.withKey(keyOf(h, st.p))
}

// withKey is with for a key of precision st.p.
func (st *state) withKey(k key) *state {
	switch {
	case st.regs != nil:
		st.regs.raise(k.register(st.p))
		return st
	case st.keys == nil && smallMax(st.p) > 0:
		return &state{p: st.p, keys: newKeySet(1).with(k)}
	case st.keys != nil && st.keys.has(k):
		return st
	case st.len() < smallMax(st.p):
		keys := st.keys.with(k)
		if keys == st.keys {
			return st
		}
		return &state{p: st.p, keys: keys}
	}
	return st.large().withKey(k)
}

// large returns st with registers.
func (st *state) large() *state {
	if st.regs != nil {
		return st
	}
	l := &state{p: st.p, regs: newRegisters(st.p)}
	for k := range st.all {
		l.regs.raise(k.register(st.p))
	}
	return l
}

// len returns the number of keys of a small state.
func (st *state) len() int {
	if st.keys == nil {
		return 0
	}
	return st.keys.len()
}

// all yields the keys of a small state in no order.
func (st *state) all(yield func(key) bool) {
	if st.keys != nil {
		st.keys.all(yield)
	}
}

// registersAt yields the registers of st that are not 0, at precision p, which
// is not finer.
func (st *state) registersAt(p uint8) iter.Seq2[uint32, uint8] {
	if st.p != p || st.regs == nil {
		st = (&state{p: p, regs: newRegisters(p)}).union(st)
	}
	return st.regs.all
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
	from := s.current()
	c.state.Store((&state{p: from.p}).union(from))
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

// union counts what other, which is not coarser, has counted, and returns st or
// the state to take its place. The caller holds the mutex of the sketch of st.
func (st *state) union(other *state) *state {
	if other.regs == nil {
		for k := range other.all {
			st = st.withKey(k.coarser(st.p))
		}
		return st
	}
	st = st.large()
	if st.p == other.p {
		st.regs.raiseAll(other.regs)
		return st
	}
	for i, rho := range other.regs.all {
		st.regs.raise(coarserRegister(i, rho, other.p-st.p))
	}
	return st
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
