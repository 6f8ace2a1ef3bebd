package rowstream

import (
	"encoding/hex"
	"flag"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

var update = flag.Bool("update", false, "write the golden file anew, which only a new version of the format calls for")

func parseKey(t testing.TB, s string) series.Key {
	t.Helper()
	k, err := series.ParseKey(s)
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

// examples are messages with every field in use, at the ends of their ranges too.
func examples(t testing.TB) []Message {
	t.Helper()
	w, err := snapshot.ParseWriterID("0190a1b2c3d47e5f8091a2b3c4d5e6f7")
	require.NoError(t, err)
	labelled := parseKey(t, "http_requests_total{code=\"200\",path=\"/\\\\\\\"\\n\xff\"}")
	long := parseKey(t, `http_requests_total{path="`+strings.Repeat("/long", 30)+`"}`)
	seeded := hll.Options{Hash: hll.XXHash, Seed: 7}
	return []Message{
		{Rows: []Row{
			{Key: labelled, Writer: w, Created: 1767225600000000000, Seq: 42, Value: 1234567, Prior: 1234560},
			{Key: long, Writer: w, Created: 1, Seq: 41, Value: 1},
		}},
		{Rows: []Row{{Key: parseKey(t, "depth"), Writer: w, Created: math.MinInt64, Seq: math.MaxUint64, Value: math.MinInt64, Prior: math.MaxInt64}}},
		{Rows: []Row{{Key: parseKey(t, "depth"), Seq: 3, Value: -7, Prior: -6}}},
		{Rows: []Row{
			{Key: parseKey(t, "visitors"), Writer: w, Created: 1, Seq: 1, Scheme: hll.Scheme{Hash: hll.Redis},
				Sketch: sketchOf(t, hll.Options{Hash: hll.Redis}, "ann", "bob")},
			{Key: labelled, Writer: w, Created: 1, Seq: 2, Scheme: seeded.Scheme(), Sketch: sketchOf(t, seeded, "ann")},
		}},
		{Rows: []Row{
			{Key: labelled, Writer: w, Created: 1767225600000000000, Seq: 42, Resolution: time.Minute, Value: 9, Prior: 4},
			{Key: labelled, Writer: w, Created: 0, Seq: 0, Resolution: 1},
		}},
		{Standing: &Standing{Writer: w, Gone: true, Standing: sinkkit.Standing{
			Seq: 42, Mark: sinkkit.Mark{1, 2, 3}, Pending: sinkkit.Mark{4, 5}, Dead: true}}},
		{Standing: &Standing{Standing: sinkkit.Standing{Seq: 300}, Folded: []snapshot.WriterID{w, {1}}}},
	}
}

func encode(t testing.TB, m Message) []byte {
	t.Helper()
	var data []byte
	var err error
	if m.Standing != nil {
		data, err = m.Standing.AppendBinary(nil)
	} else {
		data, err = Append(nil, m.Rows...)
	}
	require.NoError(t, err)
	return data
}

// The encoding is what other programs read, so it must not change.
func TestGolden(t *testing.T) {
	const file = "testdata/messages.v2.hex"
	var got strings.Builder
	for _, m := range examples(t) {
		got.WriteString(hex.EncodeToString(encode(t, m)) + "\n")
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	golden, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(golden), got.String())
}

func TestDecodeReturnsWhatWasEncoded(t *testing.T) {
	for _, m := range examples(t) {
		got, err := Decode(encode(t, m))
		require.NoError(t, err)
		assert.Equal(t, m.Standing, got.Standing)
		require.Len(t, got.Rows, len(m.Rows))
		for i, r := range m.Rows {
			assert.Equal(t, string(r.AppendID(nil)), string(got.Rows[i].AppendID(nil)))
			assert.Equal(t, r, got.Rows[i])
		}
	}
}

// A message of which a byte has changed, or that has been cut, is an error.
func TestDecodeRefusesDamage(t *testing.T) {
	for _, m := range examples(t) {
		whole := encode(t, m)
		for i := range whole {
			_, err := Decode(whole[:i])
			require.ErrorIs(t, err, ErrFormat)
			damaged := append([]byte(nil), whole...)
			damaged[i] ^= 1 << (i % 8)
			_, err = Decode(damaged)
			require.ErrorIs(t, err, ErrFormat)
		}
	}
}

func TestAppendRefusesWhatIsNotOneMessage(t *testing.T) {
	k := parseKey(t, "a")
	for _, rows := range [][]Row{
		nil,
		{{}},
		{{Key: k}, {Key: k, Writer: snapshot.NewWriterID()}},
		{{Key: k}, {Key: k, Resolution: 1}},
		{{Key: k, Resolution: -1}},
	} {
		data, err := Append([]byte("before"), rows...)
		require.ErrorIs(t, err, ErrFormat)
		assert.Equal(t, "before", string(data))
	}
}

// What Decode takes is the one encoding of its message, and Apply takes it or says
// what is wrong with a sketch. The checksum is left out, which chance does not get
// right.
func FuzzDecode(f *testing.F) {
	for _, m := range examples(f) {
		data := encode(f, m)
		f.Add(data[:len(data)-sumLen])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := Decode(body); err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
		if len(body) < headLen || string(body[:len(magic)]) != magic || body[len(magic)] != version {
			return
		}
		m, err := decodeBody(body)
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		data := encode(t, m)
		require.Equal(t, body, data[:len(data)-sumLen])
		if err := new(Fold).Apply(m); err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
	})
}
