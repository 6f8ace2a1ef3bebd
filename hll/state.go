package hll

import "iter"

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

// newState returns an empty state that need not grow for n keys.
func newState(p uint8, n int) *state {
	switch {
	case n == 0:
		return &state{p: p}
	case n > smallMax(p):
		return &state{p: p, regs: newRegisters(p)}
	}
	return &state{p: p, keys: newKeySet(n)}
}

// count counts h and returns true, unless st is small and does not have it.
func (st *state) count(h uint64) bool {
	if st.regs != nil {
		st.regs.raise(registerOf(h, st.p))
		return true
	}
	return st.keys != nil && st.keys.has(keyOf(h, st.p))
}

// withKey counts k, a key of precision st.p, and returns st or the state to take
// its place. The caller holds the mutex of the sketch of st.
func (st *state) withKey(k key) *state {
	switch {
	case st.regs != nil:
		st.regs.raise(k.register(st.p))
		return st
	case st.keys != nil && st.keys.insert(k):
		return st
	case st.len() == smallMax(st.p):
		return st.large().withKey(k)
	case st.keys == nil:
		return newState(st.p, 1).withKey(k)
	}
	return &state{p: st.p, keys: st.keys.bigger().with(k)}
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

// registersAt yields the registers of st that are not 0, at precision p, which
// is not finer.
func (st *state) registersAt(p uint8) iter.Seq2[uint32, uint8] {
	if st.p != p || st.regs == nil {
		st = (&state{p: p, regs: newRegisters(p)}).union(st)
	}
	return st.regs.all
}
