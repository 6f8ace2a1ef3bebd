package hll

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parsed returns s as Redis would give it back.
func parsed(t *testing.T, s *Sketch) *Sketch {
	t.Helper()
	value, err := s.AppendRedis(nil)
	require.NoError(t, err)
	got, err := ParseRedis(value, s.Options())
	require.NoError(t, err)
	return got
}

// decoded returns the sketch in data.
func decoded(t *testing.T, data []byte) *Sketch {
	t.Helper()
	s := new(Sketch)
	require.NoError(t, s.UnmarshalBinary(data))
	return s
}

// A sketch is an UltraLogLog until a HyperLogLog comes in, by whichever way.
func TestKinds(t *testing.T) {
	for _, n := range []uint64{0, 100, 20_000} {
		ours := sketchOf(t, 14, 0, n)
		theirs := parsed(t, ours)
		assert.Equal(t, UltraLogLog, ours.Kind())
		assert.Equal(t, HyperLogLog, theirs.Kind())
		for _, s := range []*Sketch{ours, theirs} {
			assert.Equal(t, s.Kind(), s.Clone().Kind())
			assert.Equal(t, s.Kind(), decoded(t, marshal(t, s)).Kind())
			both, err := Union(ours, s)
			require.NoError(t, err)
			assert.Equal(t, s.Kind(), both.Kind())
			require.NoError(t, both.Merge(ours))
			assert.Equal(t, s.Kind(), both.Kind(), "for good")
			coarse := mustNew(t, Options{Precision: 10})
			require.NoError(t, coarse.Merge(s))
			assert.Equal(t, s.Kind(), coarse.Kind())
			assert.True(t, bytes.Equal(rhos(sketchOf(t, 10, 0, n)), rhos(coarse)))
		}
		small := ours.current().regs == nil
		assert.Equal(t, small, decoded(t, ours.AppendAxiomhq(nil)).Kind() == UltraLogLog, "keys lose nothing")
		theirs.Reset()
		assert.Equal(t, UltraLogLog, theirs.Kind())
	}
}

// Whatever the order in which sketches of both kinds meet, and elements come, the
// result is the same, and in its upper six bits that of all elements.
func TestKindsMerge(t *testing.T) {
	for _, n := range []uint64{50, 5000, 20_000, 300_000} {
		parts := []*Sketch{sketchOf(t, 14, 0, n), parsed(t, sketchOf(t, 14, n/2, n)), sketchOf(t, 14, n, n)}
		want := rhos(sketchOf(t, 14, 0, 2*n))
		var first *Sketch
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 1, 0, 2, 0}} {
			s := mustNew(t, Options{})
			for _, i := range order {
				require.NoError(t, s.Merge(parts[i]))
			}
			if first == nil {
				first = s
			}
			require.Equal(t, HyperLogLog, s.Kind())
			require.True(t, bytes.Equal(want, rhos(s)))
			require.Equal(t, marshal(t, first), marshal(t, s))
			require.Equal(t, first.Estimate(), s.Estimate())
		}
		added := parts[1].Clone()
		for i := range 2 * n {
			added.AddHash(hashOf(i))
		}
		require.Equal(t, marshal(t, first), marshal(t, added))
		require.Equal(t, parsed(t, sketchOf(t, 14, 0, 2*n)).Estimate(), first.Estimate())
	}
}

// The bounds of a union of both kinds are those of its kind, and hold.
func TestKindsBounds(t *testing.T) {
	const n = 200_000
	ours := sketchOf(t, 14, 0, n)
	for _, s := range []*Sketch{ours, parsed(t, ours)} {
		e := s.EstimateAt(3)
		assert.LessOrEqual(t, e.Low, uint64(n), s.Kind())
		assert.GreaterOrEqual(t, e.High, uint64(n), s.Kind())
		width := float64(e.High-e.Low) / float64(e.Count)
		assert.InEpsilon(t, 6*s.Kind().StandardError(14), width, 0.1, s.Kind())
	}
}

// A reader that sees a register of a HyperLogLog sees that it came from one, while
// Adds go on, and through a third sketch.
func TestKindIsSeenInTime(t *testing.T) {
	const rho = 40 // that no other hash brings
	plain := mustNew(t, Options{})
	for i := range uint64(1 << DefaultPrecision) {
		plain.AddHash(i<<(64-DefaultPrecision) | 1<<(64-DefaultPrecision-rho))
	}
	plain = parsed(t, plain)
	for range 20 {
		s := sketchOf(t, 14, 0, 10_000)
		var wg sync.WaitGroup
		started := make(chan struct{})
		wg.Go(func() {
			<-started
			if err := s.Merge(plain); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for i := range uint64(5000) {
				s.AddHash(hashOf(1<<40 + i))
			}
		})
		check := func(got *Sketch) {
			if got.Kind() == UltraLogLog && bytes.IndexByte(rhos(got), rho) >= 0 {
				t.Error("a register of a HyperLogLog in an UltraLogLog")
			}
		}
		wg.Go(func() {
			close(started)
			for s.Kind() == UltraLogLog || bytes.IndexByte(rhos(s), 0) >= 0 {
				check(s.Clone())
				check(decoded(t, marshal(t, s)))
				third := sketchOf(t, 14, 0, 8000)
				if err := third.Merge(s); err != nil {
					t.Error(err)
				}
				check(third)
			}
		})
		wg.Wait()
	}
}

// Union has the precision of the coarser side, whichever that is.
func TestUnion(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		a, b := sketchOf(t, p, 0, n), sketchOf(t, 8, n/2, n)
		want := sketchOf(t, min(p, 8), 0, n/2+n)
		for _, sides := range [][2]*Sketch{{a, b}, {b, a}} {
			got, err := Union(sides[0], sides[1])
			require.NoError(t, err)
			require.Equal(t, want.Options(), got.Options())
			require.Equal(t, marshal(t, want), marshal(t, got))
		}
		require.Equal(t, marshal(t, sketchOf(t, p, 0, n)), marshal(t, a))
		require.Equal(t, marshal(t, sketchOf(t, 8, n/2, n)), marshal(t, b))
	})
	got, err := Union(new(Sketch), mustNew(t, Options{Precision: 8, Seed: 1}))
	require.ErrorIs(t, err, ErrScheme)
	require.Nil(t, got)
}

// Mix is one-to-one, as its inverse shows, and makes of numbers that count up what
// AddHash can take.
func TestMix(t *testing.T) {
	unshift := func(z uint64, by int) uint64 {
		for x := z >> by; x != 0; x >>= by {
			z ^= x
		}
		return z
	}
	s := new(Sketch)
	for i := range uint64(100_000) {
		z := unshift(Mix(i), 31) * 0x319642b2d24d8ec3
		z = unshift(z, 27) * 0x96de1b173f119089
		require.Equal(t, i, unshift(z, 30)-0x9e3779b97f4a7c15)
		s.AddHash(Mix(i))
	}
	e := s.EstimateAt(3)
	require.LessOrEqual(t, e.Low, uint64(100_000))
	require.GreaterOrEqual(t, e.High, uint64(100_000))
}
