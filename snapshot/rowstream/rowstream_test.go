package rowstream

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

func parseKey(t testing.TB, s string) snapshot.Key {
	t.Helper()
	k, err := snapshot.ParseKey(s)
	require.NoError(t, err)
	return k
}

// sketchOf returns the encoded sketch of some elements.
func sketchOf(t testing.TB, o hll.Options, elements ...string) []byte {
	t.Helper()
	s, err := hll.New(o)
	require.NoError(t, err)
	for _, e := range elements {
		s.AddString(e)
	}
	data, err := s.MarshalBinary()
	require.NoError(t, err)
	return data
}

// examples are rows with every field in use, at the ends of their ranges too.
func examples(t testing.TB) []Row {
	t.Helper()
	w, err := snapshot.ParseWriterID("0190a1b2c3d47e5f8091a2b3c4d5e6f7")
	require.NoError(t, err)
	labelled := parseKey(t, "http_requests_total{code=\"200\",path=\"/\\\\\\\"\\n\xff\"}")
	seeded := hll.Options{Hash: hll.XXHash, Seed: 7}
	return []Row{
		{Key: labelled, Writer: w, Created: 1767225600000000000, Seq: 42, Value: 1234567},
		{Key: parseKey(t, "depth"), Writer: w, Created: math.MinInt64, Seq: math.MaxUint64, Value: math.MinInt64},
		{Key: parseKey(t, "visitors"), Writer: w, Created: 1, Seq: 1, Scheme: hll.Scheme{Hash: hll.Redis},
			Sketch: sketchOf(t, hll.Options{Hash: hll.Redis}, "ann", "bob")},
		{Key: labelled, Writer: w, Created: 1, Seq: 2, Scheme: seeded.Scheme(), Sketch: sketchOf(t, seeded, "ann")},
	}
}

func encode(t testing.TB, r Row) []byte {
	t.Helper()
	data, err := r.AppendBinary(nil)
	require.NoError(t, err)
	return data
}

// The encoding is what other programs read, so it must not change.
func TestGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/rows.v1.hex")
	require.NoError(t, err)
	lines := strings.Fields(string(golden))
	require.Len(t, lines, len(examples(t)))
	for i, r := range examples(t) {
		assert.Equal(t, lines[i], hex.EncodeToString(encode(t, r)))
	}
}

func TestDecodeReturnsWhatWasEncoded(t *testing.T) {
	for _, r := range examples(t) {
		got, err := Decode(encode(t, r))
		require.NoError(t, err)
		assert.True(t, r.Key.Equal(got.Key))
		got.Key = r.Key
		assert.Equal(t, r, got)
		assert.Equal(t, string(r.AppendID(nil)), string(got.AppendID(nil)))
	}
}

// A row of which a byte has changed, or that has been cut, is an error.
func TestDecodeRefusesDamage(t *testing.T) {
	for _, r := range examples(t) {
		whole := encode(t, r)
		for i := range whole {
			_, err := Decode(whole[:i])
			require.ErrorIs(t, err, ErrFormat)
			damaged := append([]byte(nil), whole...)
			damaged[i] ^= 1 << (i % 8)
			_, err = Decode(damaged)
			require.ErrorIs(t, err, ErrFormat)
		}
	}
	_, err := (&Row{}).AppendBinary(nil)
	assert.ErrorIs(t, err, ErrFormat, "a row without a series")
}

// What Decode takes is the one encoding of its row, and Apply takes it or says
// what is wrong with the sketch. The checksum is left out, which chance does not
// get right.
func FuzzDecode(f *testing.F) {
	for _, r := range examples(f) {
		data := encode(f, r)
		f.Add(data[:len(data)-sumLen])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := Decode(body); err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
		if len(body) < headLen || string(body[:len(magic)]) != magic || body[len(magic)] != version {
			return
		}
		r, err := decodeBody(body)
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		data := encode(t, r)
		require.Equal(t, body, data[:len(data)-sumLen])
		if err := new(Fold).Apply(r); err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
	})
}

// history returns rows as some writers would publish them, and what they add up to.
func history(t *testing.T, rng *rand.Rand) (rows []Row, want map[string]int64, elements *hll.Sketch) {
	t.Helper()
	want = map[string]int64{}
	elements, err := hll.New(hll.Options{Precision: 12})
	require.NoError(t, err)
	for range 1 + rng.IntN(4) {
		w := snapshot.NewWriterID()
		for _, series := range []string{"a", `b{l="1"}`, `b{l="2"}`} {
			seq, created := uint64(0), int64(0)
			for range rng.IntN(3) {
				created++
				value := int64(0)
				for range 1 + rng.IntN(4) {
					seq++
					value += rng.Int64N(100) - 30
					rows = append(rows, Row{Key: parseKey(t, series), Writer: w, Created: created, Seq: seq, Value: value})
				}
				want[series] += value
			}
		}
		seen := hll.Options{Precision: 12 + rng.IntN(3)}
		element := string(rune('a' + rng.IntN(26)))
		elements.AddString(element)
		rows = append(rows, Row{Key: parseKey(t, "u"), Writer: w, Created: 1, Seq: 1, Scheme: seen.Scheme(), Sketch: sketchOf(t, seen, element)})
	}
	seen := hll.Options{Precision: 12}
	rows = append(rows, Row{Key: parseKey(t, "u"), Writer: snapshot.NewWriterID(), Created: 1, Seq: 1, Scheme: seen.Scheme(), Sketch: sketchOf(t, seen)})
	return rows, want, elements
}

// Rows may come any number of times and in any order.
func TestFoldOfAnyDelivery(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows, want, elements := history(t, rng)
		var f Fold
		for range 3 {
			for _, i := range rng.Perm(len(rows)) {
				require.NoError(t, f.Apply(rows[i]))
				if rng.IntN(3) == 0 {
					require.NoError(t, f.Apply(rows[rng.IntN(len(rows))]))
				}
			}
		}
		totals, err := f.Totals(t.Context(), snapshot.Query{})
		require.NoError(t, err)
		require.Len(t, totals, len(want), "seed %d", seed)
		for _, total := range totals {
			require.Equal(t, want[total.Key.String()], total.Value, "seed %d, %v", seed, total.Key)
		}
		uniques, err := f.Uniques(t.Context(), snapshot.Query{})
		require.NoError(t, err)
		require.Len(t, uniques, 1)
		wantSketch, err := elements.MarshalBinary()
		require.NoError(t, err)
		gotSketch, err := uniques[0].Sketch.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, wantSketch, gotSketch, "seed %d", seed)
	}
}

func TestFoldRefusesABrokenSketch(t *testing.T) {
	var f Fold
	err := f.Apply(Row{Key: parseKey(t, "u"), Writer: snapshot.NewWriterID(), Seq: 1, Sketch: []byte("no sketch")})
	require.ErrorIs(t, err, ErrFormat)
	uniques, err := f.Uniques(t.Context(), snapshot.Query{})
	require.NoError(t, err)
	assert.Empty(t, uniques)
}

func TestPages(t *testing.T) {
	var f Fold
	all := []string{"a", `b{l="1"}`, `b{l="2"}`, `b{l="3"}`, "c"}
	for _, i := range rand.Perm(len(all)) {
		require.NoError(t, f.Apply(Row{Key: parseKey(t, all[i]), Writer: snapshot.NewWriterID(), Seq: 1, Value: 1}))
	}
	names := func(q snapshot.Query) (got []string) {
		totals, err := f.Totals(t.Context(), q)
		require.NoError(t, err)
		for _, total := range totals {
			assert.Equal(t, 1, total.Writers)
			got = append(got, total.Key.String())
		}
		return got
	}
	assert.Equal(t, all, names(snapshot.Query{}))
	assert.Equal(t, all[1:4], names(snapshot.Query{Prefix: "b"}))
	assert.Equal(t, all[2:4], names(snapshot.Query{Prefix: "b", After: all[1]}))
	assert.Equal(t, all[1:3], names(snapshot.Query{Prefix: "b{", Limit: 2}))
	assert.Empty(t, names(snapshot.Query{After: "c"}))
	_, err := f.Totals(t.Context(), snapshot.Query{Limit: -1})
	assert.Error(t, err)
}
