package hll

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/axiomhq/hyperloglog"
	"github.com/stretchr/testify/require"
)

func TestMurmurVectors(t *testing.T) {
	for in, want := range map[string]uint64{
		"":           0xd8dfea6585bc9732,
		"a":          0x53d2470a9b43b1a7,
		"abcdefgh":   0xf3a65df559914567,
		"user:12345": 0x8dc71dd901f129a5,
	} {
		require.Equal(t, want, murmur64A(in))
		require.Equal(t, want, murmur64A([]byte(in)))
	}
}

// Whatever the precision and the number of elements, the encoded sketch holds
// what axiomhq's does.
func TestAgainstAxiomhq(t *testing.T) {
	for p := MinPrecision; p <= MaxPrecision; p++ {
		rng := rand.New(rand.NewPCG(1, uint64(p)))
		s, err := New(Options{Precision: p})
		require.NoError(t, err)
		oracle, err := hyperloglog.NewSketch(uint8(p), true)
		require.NoError(t, err)
		dense, err := hyperloglog.NewSketch(uint8(p), false)
		require.NoError(t, err)
		for n := range 2 * max(smallMax(uint8(p)), 100) {
			h := rng.Uint64() >> (rng.Uint64N(8) * uint64(bits.Len(uint(n))))
			s.AddHash(h)
			oracle.InsertHash(h)
			dense.InsertHash(h)
			if n%(1+n/3) != 0 {
				continue
			}
			for _, o := range []*hyperloglog.Sketch{oracle, dense} {
				enc, err := o.MarshalBinary()
				require.NoError(t, err)
				dec := new(Sketch)
				require.NoError(t, dec.UnmarshalBinary(enc))
				require.Equal(t, regs(s), regs(dec))
			}
			enc, err := s.MarshalBinary()
			require.NoError(t, err)
			dec := new(hyperloglog.Sketch)
			require.NoError(t, dec.UnmarshalBinary(enc))
			require.NoError(t, dec.Merge(dense))
			back, err := dec.MarshalBinary()
			require.NoError(t, err)
			ours := new(Sketch)
			require.NoError(t, ours.UnmarshalBinary(back))
			require.Equal(t, regs(s), regs(ours))
		}
	}
}

func regs(s *Sketch) []byte { return s.current().large().regs.appendBytes(nil) }
