package hll

import (
	"iter"
	"sync/atomic"
)

// state is what a sketch has counted: keys, or registers once it is large.
// Which of the two, and p, never change; the sketch moves on to another state.
type state struct {
	p    uint8
	regs registers // nil while small
	keys *keySet   // nil when empty or large

	// plain says that a HyperLogLog is among what regs unite, so that their
	// low bits, though still written, mean nothing. It is set before such a
	// union begins, for good, and read after the registers: so whoever reads
	// a register of that union reads it set.
	plain atomic.Bool
}

// emptyState is the state of a zero Sketch. Nothing changes it: it has no keys
// to insert into and no registers to add to.
var emptyState = state{p: DefaultPrecision}

// newState returns an empty state that need not grow for n keys.
func newState(p uint8, n int) *state {
	switch {
	case n == 0:
		return &state{p: p}
	case n > smallMax(p):
		return newLarge(p)
	}
	return &state{p: p, keys: newKeySet(n)}
}

// clone returns a state that shares nothing with st.
func (st *state) clone() *state {
	if st.regs == nil {
		return newState(st.p, st.len()).union(st)
	}
	c := newLarge(st.p)
	for w := range st.regs {
		c.regs[w] = atomic.LoadUint32(&st.regs[w])
	}
	c.plain.Store(st.plain.Load())
	return c
}

// newLarge returns a state of empty registers.
func newLarge(p uint8) *state { return &state{p: p, regs: newRegisters(p)} }

func (st *state) kind() Kind {
	if st.plain.Load() {
		return HyperLogLog
	}
	return UltraLogLog
}

// count counts h and returns true, unless st is small and does not have it.
func (st *state) count(h uint64) bool {
	if st.regs != nil {
		i, rho := registerOf(h, st.p)
		st.regs.add(i, registerAt(rho))
		return true
	}
	return st.keys != nil && st.keys.has(keyOf(h, st.p))
}

// withKey counts k, a key of precision st.p, and returns st or the state to take
// its place. The caller holds the mutex of the sketch of st.
func (st *state) withKey(k key) *state {
	switch {
	case st.regs != nil:
		i, rho := k.register(st.p)
		st.regs.add(i, registerAt(rho))
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
	l := newLarge(st.p)
	for k := range st.all {
		l.withKey(k)
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
	st.takePlain(other)
	if st.p == other.p {
		st.unionAligned(other)
		return st
	}
	for i, r := range other.regs.all {
		st.takePlain(other)
		st.regs.add(r.coarser(i, other.p-st.p))
	}
	return st
}

// unionAligned is union where both have registers, of the same precision. Most
// words of a sketch that was merged before add nothing: they cost two reads and
// a comparison, and write nothing that st would have to be plain for.
func (st *state) unionAligned(other *state) {
	for w := 0; w < len(other.regs); w += 2 {
		theirs, ours := other.regs.pair(w), st.regs.pair(w)
		if theirs == ours {
			continue
		}
		if next := unionEight(ours, theirs); next != ours {
			st.takePlain(other)
			st.regs.addPair(w, theirs, ours, next)
		}
	}
}

// takePlain makes st plain if other is. The union calls it between reading a
// register of other, which may become plain meanwhile, and writing it.
func (st *state) takePlain(other *state) {
	if other.plain.Load() && !st.plain.Load() {
		st.plain.Store(true)
	}
}

// rhosAt yields the registers of HyperLogLog at precision p, which is not finer,
// except those that are 0.
func (st *state) rhosAt(p uint8) iter.Seq2[uint32, uint8] {
	if st.p != p || st.regs == nil {
		st = newLarge(p).union(st)
	}
	return func(yield func(uint32, uint8) bool) {
		for i, r := range st.regs.all {
			if !yield(i, r.rho()) {
				return
			}
		}
	}
}
