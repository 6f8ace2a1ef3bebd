package hll

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// An actor is a call on a sketch, cut into the steps that it takes one at a
// time, each on its own atomic for other calls: that is what AddHash and the
// readers are made of.
type actor []func()

// interleavings calls visit with each order in which the steps of actors with
// so many steps left can follow one another.
func interleavings(left, order []int, visit func(order []int)) {
	done := true
	for i := range left {
		if left[i] > 0 {
			done = false
			left[i]--
			interleavings(left, append(order, i), visit)
			left[i]++
		}
	}
	if done {
		visit(order)
	}
}

// adder adds h in the three steps of Sketch.count, and calls returned when the
// Add would return.
func adder(s *Sketch, h uint64, returned func()) actor {
	var st *state
	counted := false
	return actor{
		func() { st = s.current() },
		func() {
			if counted = st.count(h); counted {
				returned()
			}
		},
		func() {
			if !counted {
				s.insert(h)
				returned()
			}
		},
	}
}

// Whatever the order in which the steps of Adds fall around a growth of a small
// sketch or its switch to registers, all that has returned is counted, in the
// sketch as well as in every state that a reader loaded since.
func TestEveryInterleaving(t *testing.T) {
	tableFull := uint64(tableCapacity(tableMinSlots))
	toPacked := uint64(tableCapacity(tableMaxSlots))
	packedFull := uint64(packedCapacity(packedMinBits))
	for _, c := range []struct {
		p  int
		at uint64 // the insertion after so many keys grows or switches
	}{
		{4, 0},                                 // registers at once
		{6, tableFull},                         // table to registers
		{14, 0},                                // empty to table
		{14, tableFull},                        // table to table
		{14, toPacked},                         // table to packed
		{14, packedFull},                       // packed to packed
		{13, uint64(smallMax(13))},             // packed to registers
		{6, tableFull - 1}, {14, toPacked - 1}, // the second insertion does
	} {
		t.Run(fmt.Sprintf("p=%d/keys=%d", c.p, c.at), func(t *testing.T) {
			base := sketchOf(t, c.p, 0, c.at)
			a, b := hashOf(1<<40), hashOf(1<<40+1)
			if c.at < 1000 { // else it takes too long
				interleavings([]int{3, 3, 3}, nil, func(order []int) {
					playOrder(t, base.Clone(), []uint64{a, b, a}, order)
				})
			}
			n := uint64(0)
			interleavings([]int{3, 3, 2}, nil, func(order []int) {
				if n++; n%(1+c.at/200) == 0 { // a sample, for the same reason
					playOrder(t, base.Clone(), []uint64{a, b}, order)
				}
			})
		})
	}
}

// playOrder lets an adder for each hash, and if order has one more actor a
// reader, take their steps in this order.
func playOrder(t *testing.T, s *Sketch, hashes []uint64, order []int) {
	var returned, mustSee []uint64
	var actors []actor
	for _, h := range hashes {
		actors = append(actors, adder(s, h, func() { returned = append(returned, h) }))
	}
	var st *state
	actors = append(actors, actor{
		func() {
			mustSee = append(mustSee, returned...)
			st = s.current()
		},
		func() { requireHas(t, order, st, mustSee) },
	})
	for _, i := range order {
		actors[i][0]()
		actors[i] = actors[i][1:]
		requireHas(t, order, s.current(), returned)
	}
	require.Len(t, returned, len(hashes), "order %v", order)
}

func requireHas(t *testing.T, order []int, st *state, hashes []uint64) {
	for _, h := range hashes {
		has := st.regs == nil && st.count(h)
		if st.regs != nil {
			i, rho := registerOf(h, st.p)
			r := register(st.regs[i/wordBytes] >> (i % wordBytes * byteBits))
			has = r.union(registerAt(rho)) == r
		}
		if !has {
			t.Fatalf("%#x is lost, in order %v", h, order)
		}
	}
}

// The elements around each growth and the switch are counted, and each only
// once: as long as a sketch is small, its keys are those of a set.
func TestSmallAgainstSet(t *testing.T) {
	for _, p := range []uint8{4, 6, 12, 13, 14, 16} {
		for name, hash := range map[string]func(uint64) uint64{
			"uniform": hashOf,
			// Hashes that AddHash's contract forbids may cost memory, but
			// never an element.
			"one home":    func(i uint64) uint64 { return i << 20 },
			"long keys":   func(i uint64) uint64 { return hashOf(i)&^(1<<50-1) | i },
			"few":         func(i uint64) uint64 { return hashOf(i % 100) },
			"small":       func(i uint64) uint64 { return i },
			"high, dense": func(i uint64) uint64 { return i << 39 },
		} {
			t.Run(fmt.Sprintf("p=%d/%s", p, name), func(t *testing.T) {
				s := mustNew(t, Options{Precision: int(p)})
				oracle := make(map[key]bool)
				large := newRegisters(p)
				for n := range uint64(smallMax(p)) + 100 {
					h := hash(n)
					s.AddHash(h)
					oracle[keyOf(h, p)] = true
					i, rho := registerOf(h, p)
					large.add(i, registerAt(rho))
					st := s.current()
					if small := len(oracle) <= smallMax(p); small != (st.regs == nil) {
						t.Fatalf("%d keys, small %v", len(oracle), small)
					}
					if st.regs == nil && st.len() != len(oracle) {
						t.Fatalf("%d keys, want %d", st.len(), len(oracle))
					}
					if n%(n/20+1) == 0 && st.regs == nil {
						requireKeys(t, oracle, st)
					}
				}
				require.True(t, bytes.Equal(large.appendBytes(nil), regs(s)))
			})
		}
	}
}

func requireKeys(t *testing.T, oracle map[key]bool, st *state) {
	n := 0
	for k := range st.all {
		require.True(t, oracle[k])
		require.True(t, k.valid(st.p))
		n++
	}
	require.Len(t, oracle, n)
	for k := range oracle {
		require.True(t, st.keys.has(k))
	}
}

// A key and a hash set the same register, and a key made coarser is the key at
// that precision.
func TestKeys(t *testing.T) {
	for i := range uint64(50_000) {
		h := hashOf(i) >> (i % 65)
		for p := uint8(MinPrecision); p <= MaxPrecision; p++ {
			k := keyOf(h, p)
			wantIndex, wantRho := registerOf(h, p)
			index, rho := k.register(p)
			if index != wantIndex || rho != wantRho || k == 0 || !k.valid(p) {
				t.Fatalf("key %#x of %#x at %d: register %d of %d, want %d of %d", k, h, p, rho, index, wantRho, wantIndex)
			}
			if p < MaxPrecision && keyOf(h, p+1).coarser(p) != k {
				t.Fatalf("%#x: key at %d is not that at %d made coarser", h, p, p+1)
			}
		}
	}
}
