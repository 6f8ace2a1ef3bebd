package hll

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// regs returns all that the registers of s know, a byte each, whatever its state:
// the measure of equality that all forms of a sketch of one kind share.
func regs(s *Sketch) []byte {
	if s.Kind() == HyperLogLog {
		return rhos(s)
	}
	return s.current().large().regs.appendBytes(nil)
}

// rhos returns the registers of s as HyperLogLog has them, a byte each.
func rhos(s *Sketch) []byte {
	b := s.current().large().regs.appendBytes(nil)
	makePlain(b)
	return b
}

func mustNew(tb testing.TB, o Options) *Sketch {
	tb.Helper()
	s, err := New(o)
	require.NoError(tb, err)
	return s
}

// sketchOf returns a sketch of precision p of n elements that start names.
func sketchOf(tb testing.TB, p int, start, n uint64) *Sketch {
	tb.Helper()
	s := mustNew(tb, Options{Precision: p})
	for i := range n {
		s.AddHash(hashOf(start + i))
	}
	return s
}

// hashOf is the i-th of a sequence of hashes: SplitMix64.
func hashOf(i uint64) uint64 {
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// forms runs test for precisions with each of the small forms, and for numbers
// of elements on either side of their switch to registers.
func forms(t *testing.T, test func(t *testing.T, p int, n uint64)) {
	for _, p := range []int{4, 6, 12, 13, 14, 15} {
		most := uint64(smallMax(uint8(p)))
		for _, n := range []uint64{0, 1, 2, most / 5, most, most + 1, 2*most + 50} {
			t.Run(fmt.Sprintf("p=%d/n=%d", p, n), func(t *testing.T) { test(t, p, n) })
		}
	}
}

func TestMurmurVectors(t *testing.T) {
	for in, want := range map[string]uint64{
		"":           0xd8dfea6585bc9732,
		"a":          0x53d2470a9b43b1a7,
		"abcdefgh":   0xf3a65df559914567,
		"user:12345": 0x8dc71dd901f129a5,
	} {
		assert.Equal(t, want, murmur64A(in), "%q", in)
		assert.Equal(t, want, murmur64A([]byte(in)), "%q", in)
	}
}

func TestStringsAndBytesAreTheSame(t *testing.T) {
	for _, o := range []Options{{}, {Seed: 7}, {Hash: Redis}} {
		s := mustNew(t, o)
		for n := range 100 {
			str := string(bytes.Repeat([]byte{'x'}, n))
			h := s.Hash([]byte(str))
			assert.Equal(t, h, s.HashString(str), "%v, length %d", o, n)
			s.Add([]byte(str))
			s.AddString(str)
			s.AddHash(h)
			assert.EqualValues(t, n+1, s.Estimate().Count, "%v, length %d", o, n)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Precision: 3}, {Precision: 19}, {Precision: -1}, {Precision: 14 + 256},
		{Hash: 2}, {Hash: Redis, Seed: 1},
	} {
		s, err := New(o)
		assert.Nil(t, s)
		assert.ErrorIs(t, err, ErrOptions, "%+v", o)
	}
	assert.Equal(t, Options{Precision: 14}, mustNew(t, Options{}).Options())
	assert.Equal(t, Options{Precision: 14}, new(Sketch).Options())
	o := Options{Precision: 9, Seed: 5}
	assert.Equal(t, o, mustNew(t, o).Options())
	assert.Equal(t, o, mustNew(t, o).Clone().Options())
}

func TestScheme(t *testing.T) {
	schemes := []Scheme{
		Options{}.Scheme(),
		Options{Hash: Redis}.Scheme(),
		Options{Seed: 1}.Scheme(),
		Options{Seed: 1 << 63}.Scheme(),
	}
	for i, a := range schemes {
		for j, b := range schemes {
			assert.Equal(t, i == j, a == b, "%v, %v", a, b)
		}
	}
	assert.Equal(t, "xxhash", schemes[0].String())
	assert.Equal(t, "redis", schemes[1].String())
	assert.Regexp(t, "^xxhash seed [0-9a-f]{16}$", schemes[2].String())
	assert.Equal(t, schemes[0], Options{Precision: 18}.Scheme(), "precision is no part of it")
}

func TestMergeRefusesOtherSchemes(t *testing.T) {
	s := mustNew(t, Options{Seed: 1})
	s.AddString("a")
	for _, o := range []Options{{}, {Seed: 2}, {Hash: Redis}} {
		other := mustNew(t, o)
		other.AddString("b")
		err := s.Merge(other)
		require.ErrorIs(t, err, ErrScheme)
		assert.ErrorContains(t, err, s.Scheme().String())
		assert.ErrorContains(t, err, other.Scheme().String())
		assert.EqualValues(t, 1, s.Estimate().Count)
	}
}

// A sketch depends on the set of its elements: neither on their order, nor on
// how often each is added.
func TestOrderAndRepetition(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		a, b := sketchOf(t, p, 0, n), mustNew(t, Options{Precision: p})
		for _, i := range rand.New(rand.NewPCG(1, n)).Perm(int(n)) {
			b.AddHash(hashOf(uint64(i)))
			b.AddHash(hashOf(uint64(i)))
		}
		assert.True(t, bytes.Equal(regs(a), regs(b)))
		assert.Equal(t, a.Estimate(), b.Estimate())
	})
}

// The union of parts is the sketch of all elements, register for register, and
// so are its estimate and its form.
func TestUnions(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		whole := sketchOf(t, p, 0, n)
		for _, parts := range []uint64{2, 4, 16} {
			union := mustNew(t, Options{Precision: p})
			for i := range parts { // parts overlap by half
				from, to := n*i/parts, min(n, n*(i+1)/parts+n/parts/2)
				require.NoError(t, union.Merge(sketchOf(t, p, from, to-from)))
			}
			assert.True(t, bytes.Equal(regs(whole), regs(union)), "%d parts", parts)
			assert.Equal(t, whole.Estimate(), union.Estimate(), "%d parts", parts)
		}
	})
}

// Merging is commutative, associative and idempotent, and does not change what
// is merged in.
func TestMergeAlgebra(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		a, b, c := sketchOf(t, p, 0, n), sketchOf(t, p, n/2, n), sketchOf(t, p, 1<<40, 3)
		union := func(sketches ...*Sketch) *Sketch {
			u := sketches[0].Clone()
			for _, s := range sketches[1:] {
				require.NoError(t, u.Merge(s))
			}
			return u
		}
		before := regs(b)
		want := union(a, b, c)
		for _, got := range []*Sketch{union(c, b, a), union(b, union(a, c)), union(a, b, c, b, a, want)} {
			assert.True(t, bytes.Equal(regs(want), regs(got)))
			assert.Equal(t, want.Estimate(), got.Estimate())
		}
		require.NoError(t, want.Merge(want))
		assert.True(t, bytes.Equal(regs(union(a, b, c)), regs(want)))
		assert.True(t, bytes.Equal(before, regs(b)))
	})
}

// A fine sketch merged into a coarse one counts as if it had been coarse. The
// other way is refused.
func TestPrecisionsFold(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		fine := sketchOf(t, p, 0, n)
		for q := MinPrecision; q <= p; q++ {
			coarse := mustNew(t, Options{Precision: q})
			require.NoError(t, coarse.Merge(fine))
			require.True(t, bytes.Equal(regs(sketchOf(t, q, 0, n)), regs(coarse)), "to precision %d", q)
			require.Equal(t, q, coarse.Options().Precision)
			if q < p {
				require.ErrorIs(t, fine.Merge(coarse), ErrPrecision)
			}
		}
		require.True(t, bytes.Equal(regs(sketchOf(t, p, 0, n)), regs(fine)))
	})
}

func TestCloneAndReset(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		s := sketchOf(t, p, 0, n)
		c := s.Clone()
		assert.True(t, bytes.Equal(regs(s), regs(c)))
		assert.Equal(t, s.Estimate(), c.Estimate())
		c.AddHash(hashOf(1 << 40))
		assert.True(t, bytes.Equal(regs(sketchOf(t, p, 0, n)), regs(s)), "the original stays")

		s.Reset()
		assert.Equal(t, Estimate{}, s.Estimate())
		assert.Equal(t, p, s.Options().Precision)
		assert.LessOrEqual(t, s.Size(), 128)
		s.AddHash(hashOf(1 << 40))
		assert.EqualValues(t, 1, s.Estimate().Count)
	})
}

func TestSize(t *testing.T) {
	assert.LessOrEqual(t, new(Sketch).Size(), 128)
	assert.LessOrEqual(t, mustNew(t, Options{Precision: 18}).Size(), 128)
	assert.LessOrEqual(t, sketchOf(t, 14, 0, 100).Size(), 1536)
	for p := MinPrecision; p <= MaxPrecision; p++ {
		const overhead = 256 // of headers; and 1/8 for what spills from a packed table
		s := mustNew(t, Options{Precision: p})
		for i := uint64(0); s.current().regs == nil; i++ {
			s.AddHash(hashOf(i))
			require.LessOrEqual(t, s.Size(), 1<<p+1<<p/8+overhead, "p=%d, %d elements", p, i+1)
		}
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	for _, n := range []uint64{50, 5000, 50_000} {
		for _, o := range []Options{{}, {Seed: 7}, {Hash: Redis}} {
			s := mustNew(t, o)
			key := []byte("a key of some sixteen bytes")
			for i := range n {
				s.AddHash(hashOf(i))
			}
			s.Add(key)
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				s.Add(key)
				s.AddString("a key of some sixteen bytes")
				s.Estimate()
			}), "%+v, %d elements", o, n)
		}
	}
}
