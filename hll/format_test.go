package hll

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/axiomhq/hyperloglog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golden returns a file of testdata, whose README says how it was made.
func golden(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(tb, err)
	return b
}

// users returns a sketch of user:0 to user:n-1.
func users(tb testing.TB, o Options, n int) *Sketch {
	tb.Helper()
	s := mustNew(tb, o)
	for i := range n {
		s.AddString(fmt.Sprint("user:", i))
	}
	return s
}

func marshal(tb testing.TB, s *Sketch) []byte {
	tb.Helper()
	b, err := s.MarshalBinary()
	require.NoError(tb, err)
	return b
}

func TestBinaryRoundTrip(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		s := sketchOf(t, p, 0, n)
		got := mustNew(t, Options{Seed: 3})
		got.AddString("is forgotten")
		require.NoError(t, got.UnmarshalBinary(marshal(t, s)))
		assert.True(t, bytes.Equal(regs(s), regs(got)))
		assert.Equal(t, s.Estimate(), got.Estimate())
		assert.Equal(t, Options{Precision: p, Seed: 3}, got.Options())

		prefix, err := s.AppendBinary([]byte("prefix"))
		require.NoError(t, err)
		assert.Equal(t, append([]byte("prefix"), marshal(t, s)...), prefix)
	})
}

// axiomhq reads what we write and we read what it writes, in each form, with
// the same registers.
func TestBinaryAgainstAxiomhq(t *testing.T) {
	forms(t, func(t *testing.T, p int, n uint64) {
		ours := sketchOf(t, p, 0, n)
		for _, sparse := range []bool{true, false} {
			theirs, err := hyperloglog.NewSketch(uint8(p), sparse)
			require.NoError(t, err)
			for i := range n {
				theirs.InsertHash(hashOf(i))
				if i == n/2 {
					theirs.Estimate() // moves what it has to the sorted list
				}
			}
			enc, err := theirs.MarshalBinary()
			require.NoError(t, err)
			got := new(Sketch)
			require.NoError(t, got.UnmarshalBinary(enc))
			require.True(t, bytes.Equal(rhos(ours), rhos(got)))
			if enc[3] == binarySparse {
				require.Equal(t, UltraLogLog, got.Kind())
				require.True(t, bytes.Equal(regs(ours), regs(got)))
				require.Equal(t, ours.Estimate(), got.Estimate())
			} else {
				require.Equal(t, HyperLogLog, got.Kind())
			}
		}
		dense, err := hyperloglog.NewSketch(uint8(p), false)
		require.NoError(t, err)
		theirs := new(hyperloglog.Sketch)
		require.NoError(t, theirs.UnmarshalBinary(ours.AppendAxiomhq(nil)))
		require.NoError(t, dense.Merge(theirs))
		enc, err := dense.MarshalBinary()
		require.NoError(t, err)
		require.True(t, bytes.Equal(rhos(ours), enc[binaryHeader+uint32Bytes:]))
	})
}

func TestGoldenBinary(t *testing.T) {
	for _, n := range []int{0, 100, 1000, 20_000} {
		got := new(Sketch)
		require.NoError(t, got.UnmarshalBinary(golden(t, fmt.Sprintf("axiomhq-%d.bin", n))))
		want := users(t, Options{}, n)
		assert.True(t, bytes.Equal(rhos(want), rhos(got)))
		if got.Kind() == UltraLogLog {
			assert.True(t, bytes.Equal(regs(want), regs(got)))
			assert.Equal(t, want.Estimate(), got.Estimate())
		}
	}
}

func TestGoldenRedis(t *testing.T) {
	for _, n := range []int{100, 1000, 10_000} { // the first two are sparse
		data := golden(t, fmt.Sprintf("redis-%d.bin", n))
		got, err := ParseRedis(data, Options{Hash: Redis})
		require.NoError(t, err)
		want := users(t, Options{Hash: Redis}, n)
		require.Equal(t, HyperLogLog, got.Kind())
		require.True(t, bytes.Equal(rhos(want), rhos(got)))

		enc, err := want.AppendRedis([]byte("prefix"))
		require.NoError(t, err)
		require.Len(t, enc, len("prefix")+12304)
		if data[4] == redisDense {
			assert.Equal(t, data[redisHeader:], enc[len("prefix")+redisHeader:])
		}
		assert.Equal(t, append([]byte("prefixHYLL"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80), enc[:len("prefix")+redisHeader])
	}
}

// Vectors: the register that one element sets, as Redis numbers them.
func TestRedisVectors(t *testing.T) {
	for in, want := range map[string]struct {
		index uint32
		rho   uint8
	}{
		"":           {5938, 2},
		"a":          {12711, 2},
		"abcdefgh":   {1383, 1},
		"user:12345": {10661, 3},
	} {
		s := mustNew(t, Options{Hash: Redis})
		i, rho := registerOf(s.HashString(in), 14)
		assert.Equal(t, want.index, redisIndex(i), "%q", in)
		assert.Equal(t, want.rho, rho, "%q", in)
		assert.Equal(t, i, redisIndex(redisIndex(i)))
	}
}

func TestRedisRoundTrip(t *testing.T) {
	for _, p := range []int{14, 15} {
		for _, n := range []uint64{0, 1, 5000, 30_000} {
			enc, err := sketchOf(t, p, 0, n).AppendRedis(nil)
			require.NoError(t, err)
			got, err := ParseRedis(enc, Options{})
			require.NoError(t, err)
			require.True(t, bytes.Equal(rhos(sketchOf(t, 14, 0, n)), rhos(got)))
			again, err := got.AppendRedis(nil)
			require.NoError(t, err)
			require.Equal(t, enc, again)
		}
	}
	dst := []byte("dst")
	got, err := sketchOf(t, 13, 0, 10).AppendRedis(dst)
	require.ErrorIs(t, err, ErrPrecision)
	assert.Equal(t, dst, got)
	_, err = ParseRedis(golden(t, "redis-100.bin"), Options{Precision: 12})
	assert.ErrorIs(t, err, ErrOptions)
}

// The count in the header of a Redis value is a cache that anyone can forge.
func TestRedisCacheIsIgnored(t *testing.T) {
	data := golden(t, "redis-1000.bin")
	want, err := ParseRedis(data, Options{Hash: Redis})
	require.NoError(t, err)
	copy(data[8:], "\xff\xff\xff\xff\xff\xff\xff\x7f")
	got, err := ParseRedis(data, Options{Hash: Redis})
	require.NoError(t, err)
	assert.Equal(t, want.Estimate(), got.Estimate())
}

func TestGoldenPostgres(t *testing.T) {
	const header = 3
	s := mustNew(t, Options{})
	for i := range uint64(20_000) {
		s.AddHash(bits.Reverse64(hashOf(i)))
	}
	got := s.AppendPostgres([]byte("prefix"))[len("prefix"):]
	assert.Equal(t, []byte{0x14, 0x8e, 0x7f}, got[:header])
	assert.True(t, bytes.Equal(golden(t, "postgres-20000.bin")[header:], got[header:]))
}

// All that is not a sketch is an error and changes nothing.
func TestMalformedBinary(t *testing.T) {
	small, large := marshal(t, sketchOf(t, 14, 0, 100)), sketchOf(t, 14, 0, 20_000).AppendAxiomhq(nil)
	coarse := sketchOf(t, 4, 0, 100).AppendAxiomhq(nil)
	ultra, coarseUltra := marshal(t, sketchOf(t, 14, 0, 20_000)), marshal(t, sketchOf(t, 4, 0, 100))
	with := func(b []byte, at int, v ...byte) []byte {
		b = slices.Clone(b)
		copy(b[at:], v)
		return b
	}
	const list = binaryHeader + uint32Bytes
	bad := map[string][]byte{
		"empty":                 {},
		"a header only":         small[:7],
		"version 1":             with(small, 0, 1),
		"version 3":             with(large, 0, 3),
		"precision 3":           with(large, 1, 3),
		"precision 19":          with(large, 1, 19),
		"another precision":     with(large, 1, 13),
		"byte 2":                with(small, 2, 1),
		"form 2":                with(small, 3, 2),
		"register count":        with(large, 4, 0, 0, 0x40, 1),
		"register too great":    with(large, list, 52),
		"coarse, too great":     with(coarse, list, 62),
		"ultra, keys":           with(ultra, 3, 1),
		"ultra, another p":      with(ultra, 1, 13),
		"ultra, byte 2":         with(ultra, 2, 1),
		"ultra, too great":      with(ultra, list, 52<<2),
		"ultra, far too great":  with(coarseUltra, list, 62<<2),
		"ultra, rho 0":          with(ultra, list, 1),
		"ultra, rho 1":          with(ultra, list, 1<<2|2),
		"ultra, rho 2":          with(ultra, list, 2<<2|1),
		"trailing byte, ultra":  append(slices.Clone(ultra), 0),
		"a byte less, ultra":    ultra[:len(ultra)-1],
		"trailing byte, small":  append(slices.Clone(small), 0),
		"trailing byte, large":  append(slices.Clone(large), 0),
		"unsorted keys missing": with(small, 4, 0xff, 0xff, 0xff, 0xff),
		"17 unsorted keys":      append([]byte{2, 4, 0, 1, 0, 0, 0, 17}, bytes.Repeat([]byte{0, 0, 0, 2}, 17+3)...),
		"list count":            with(small, list, 0, 0, 0, 101),
		"last key":              with(small, list+4, 0, 0, 0, 1),
		"list size":             with(small, list+8, 0xff, 0xff, 0xff, 0xff),
		"key 0":                 {2, 14, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"no rho":                {2, 14, 0, 1, 0, 0, 0, 1, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"rho 41":                {2, 14, 0, 1, 0, 0, 0, 1, 0, 4, 0, 83, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"a bit too many":        {2, 14, 0, 1, 0, 0, 0, 1, 4, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"the same key twice":    {2, 14, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 0},
		"a varint without end":  {2, 14, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0x82},
		"an overlong varint":    {2, 14, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0x82, 0},
		"past 32 bits":          {2, 14, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0x82, 0x80, 0x80, 0x80, 0x10},
	}
	for i := range len(small) {
		bad[fmt.Sprint("small, cut at ", i)] = small[:i]
	}
	s := sketchOf(t, 14, 7, 7)
	for name, data := range bad {
		assert.ErrorIs(t, s.UnmarshalBinary(data), ErrFormat, name)
	}
	assert.True(t, bytes.Equal(regs(sketchOf(t, 14, 7, 7)), regs(s)))
}

func TestMalformedRedis(t *testing.T) {
	dense, sparse := golden(t, "redis-10000.bin"), golden(t, "redis-100.bin")
	with := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	header := sparse[:redisHeader]
	bad := map[string][]byte{
		"empty":             {},
		"magic":             with(dense, 0, 'h'),
		"encoding 2":        with(dense, 4, 2),
		"reserved":          with(sparse, 6, 1),
		"dense as sparse":   with(dense, 4, redisSparse),
		"sparse as dense":   with(sparse, 4, redisDense),
		"register 63":       with(dense, redisHeader, 0xff),
		"dense, cut":        dense[:len(dense)-1],
		"dense, longer":     append(slices.Clone(dense), 0),
		"sparse, longer":    append(slices.Clone(sparse), 0),
		"no registers":      header,
		"half an opcode":    append(slices.Clone(header), 0x7f),
		"a register short":  append(slices.Clone(header), 0x7f, 0xfe),
		"a register beyond": append(slices.Clone(header), 0x7f, 0xff, 0x80),
	}
	for i := range len(sparse) {
		bad[fmt.Sprint("sparse, cut at ", i)] = sparse[:i]
	}
	for name, data := range bad {
		s, err := ParseRedis(data, Options{Hash: Redis})
		assert.ErrorIs(t, err, ErrFormat, name)
		assert.Nil(t, s, name)
	}
	s, err := ParseRedis(append(slices.Clone(header), 0x7f, 0xff), Options{Hash: Redis})
	require.NoError(t, err)
	assert.Zero(t, s.Estimate())
}

// Whatever decodes is a sketch that encodes to its like, to the very bytes if it
// was one of ours, and axiomhq reads what is or may be in its format.
func FuzzUnmarshalBinary(f *testing.F) {
	for _, n := range []int{0, 100, 1000, 20_000} {
		f.Add(golden(f, fmt.Sprintf("axiomhq-%d.bin", n)))
	}
	for _, p := range []int{4, 6, 12} {
		f.Add(marshal(f, sketchOf(f, p, 0, 10)))
		f.Add(marshal(f, sketchOf(f, p, 0, 100)))
		f.Add(marshal(f, sketchOf(f, p, 0, 10_000)))
		f.Add(sketchOf(f, p, 0, 10_000).AppendAxiomhq(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := sketchOf(t, 5, 0, 3)
		if err := s.UnmarshalBinary(data); err != nil {
			require.ErrorIs(t, err, ErrFormat)
			require.True(t, bytes.Equal(regs(sketchOf(t, 5, 0, 3)), regs(s)))
			return
		}
		require.LessOrEqual(t, s.Size(), 1<<s.Options().Precision+24*len(data)+256)
		requireOrdered(t, s.Estimate())
		enc := marshal(t, s)
		again := new(Sketch)
		require.NoError(t, again.UnmarshalBinary(enc))
		require.True(t, bytes.Equal(regs(s), regs(again)))
		require.Equal(t, s.Estimate(), again.Estimate())
		require.Equal(t, s.Kind(), again.Kind())
		if data[3] == binaryDense {
			require.Equal(t, data, enc)
		}
		if data[0] == axiomhqVersion {
			require.NoError(t, new(hyperloglog.Sketch).UnmarshalBinary(data))
		}
		exported := s.AppendAxiomhq(nil)
		require.NoError(t, new(hyperloglog.Sketch).UnmarshalBinary(exported))
		require.NoError(t, again.UnmarshalBinary(exported))
		require.True(t, bytes.Equal(rhos(s), rhos(again)))
		require.NoError(t, sketchOf(t, 4, 0, 100).Merge(s))
		s.AppendPostgres(nil)
	})
}

// Whatever parses is a sketch that Redis' dense format holds.
func FuzzParseRedis(f *testing.F) {
	for _, n := range []int{100, 1000, 10_000} {
		f.Add(golden(f, fmt.Sprintf("redis-%d.bin", n)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseRedis(data, Options{Hash: Redis})
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		requireOrdered(t, s.Estimate())
		enc, err := s.AppendRedis(nil)
		require.NoError(t, err)
		again, err := ParseRedis(enc, Options{Hash: Redis})
		require.NoError(t, err)
		require.True(t, bytes.Equal(regs(s), regs(again)))
		if data[4] == redisDense {
			require.Equal(t, data[redisHeader:], enc[redisHeader:])
		}
	})
}

func requireOrdered(t *testing.T, e Estimate) {
	t.Helper()
	require.LessOrEqual(t, e.Low, e.Count)
	require.LessOrEqual(t, e.Count, e.High)
}
