package hll

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rhoSet is the oracle of a register: all rhos that came, a bit each.
type rhoSet uint64

// register is what the definition makes of the set.
func (s rhoSet) register() register {
	if s == 0 {
		return 0
	}
	u := bits.Len64(uint64(s)) - 1
	r := register(u << 2)
	if u > 1 && s>>(u-1)&1 != 0 {
		r |= 2
	}
	if u > 2 && s>>(u-2)&1 != 0 {
		r |= 1
	}
	return r
}

// validRegisters returns all that hashes can leave at precision 4, which has the
// most.
func validRegisters() []register {
	var all []register
	for r := range 256 {
		if register(r).valid(MinPrecision) {
			all = append(all, register(r))
		}
	}
	return all
}

// The registers that are valid are those of some set.
func TestValidRegisters(t *testing.T) {
	for p := uint8(MinPrecision); p <= MaxPrecision; p++ {
		reached := map[register]bool{0: true}
		for u := uint8(1); u <= 64-p+1; u++ {
			for low := range rhoSet(8) {
				reached[((1<<3|low)<<u>>3&^1 | 1<<u).register()] = true
			}
		}
		for r := range 256 {
			require.Equal(t, reached[register(r)], register(r).valid(p), "%#02x at precision %d", r, p)
		}
	}
}

// Sets of rhos, in any order and in parts that overlap, leave the register of the
// definition; its upper six bits are the greatest, which is HyperLogLog's.
func TestRegisterAgainstSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var sets [3]rhoSet
		var got, parts register
		for i := range sets {
			var part register
			for range rng.IntN(6) {
				rho := uint8(1 + rng.IntN(1+rng.IntN(61)))
				sets[i] |= 1 << rho
				part = part.union(registerAt(rho))
				got = got.union(registerAt(rho))
			}
			require.Equal(t, sets[i].register(), part, "%#x", sets[i])
			parts = parts.union(part)
		}
		whole := sets[0] | sets[1] | sets[2]
		require.Equal(t, whole.register(), got, "%#x", sets)
		require.Equal(t, whole.register(), parts, "%#x", sets)
		require.EqualValues(t, max(0, bits.Len64(uint64(whole))-1), got.rho(), "%#x", sets)
	}
}

// Union is commutative, associative and idempotent, and commutes with the
// projection to HyperLogLog, whose union is the maximum.
func TestRegisterUnion(t *testing.T) {
	all := validRegisters()
	for _, a := range all {
		require.Equal(t, a, a.union(a))
		require.Equal(t, a, a.union(0))
		for _, b := range all {
			ab := a.union(b)
			if ab != b.union(a) || ab.union(a) != ab || ab.rho() != max(a.rho(), b.rho()) || !ab.valid(MinPrecision) {
				t.Fatalf("union of %#02x and %#02x", a, b)
			}
			for _, c := range all {
				if ab.union(c) != a.union(b.union(c)) {
					t.Fatalf("union of %#02x, %#02x and %#02x", a, b, c)
				}
			}
		}
	}
}

// What has says is what adding the rho would show.
func TestRegisterHas(t *testing.T) {
	for _, r := range validRegisters() {
		for zeros := range 61 {
			want := r.union(registerAt(uint8(zeros)+1)) == r
			require.Equal(t, want, r.has(zeros), "%#02x, %d zeros", r, zeros)
		}
	}
}

// Each of eight registers is united as if it were alone.
func TestUnionEight(t *testing.T) {
	all := validRegisters()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, a := range all {
		for _, b := range all {
			lane := rng.IntN(8)
			var x, y, want uint64
			for i := range 8 {
				r, s := all[rng.IntN(len(all))], all[rng.IntN(len(all))]
				if i == lane {
					r, s = a, b
				}
				x |= uint64(r) << (8 * i)
				y |= uint64(s) << (8 * i)
				want |= uint64(r.union(s)) << (8 * i)
			}
			if got := unionEight(x, y); got != want {
				t.Fatalf("unionEight(%#016x, %#016x) = %#016x, want %#016x", x, y, got, want)
			}
		}
	}
}

// Hashes that chose a register leave, folded, what they leave at the lower
// precision.
func TestRegisterCoarser(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		p := uint8(MinPrecision + 1 + rng.IntN(MaxPrecision-MinPrecision))
		n := uint8(1 + rng.IntN(int(p)-MinPrecision))
		index := rng.Uint64() << rng.IntN(64) // with zeros at its end, too
		var fine, want register
		var i, j uint32
		for range 1 + rng.IntN(5) {
			h := index<<(64-p) | rng.Uint64()>>p>>rng.IntN(64)
			var rho uint8
			i, rho = registerOf(h, p)
			fine = fine.union(registerAt(rho))
			j, rho = registerOf(h, p-n)
			want = want.union(registerAt(rho))
		}
		gotIndex, got := fine.coarser(i, n)
		require.Equal(t, j, gotIndex)
		require.Equal(t, want, got, "register %d of %#02x at %d, coarser by %d", i, fine, p, n)
	}
}
