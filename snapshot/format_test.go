package snapshot

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sample has rows of every kind, of several families, interleaved.
func sample(t testing.TB) *Snapshot {
	t.Helper()
	plain, err := NewDesc("hits_total")
	require.NoError(t, err)
	labelled, err := NewDesc("http_requests_total", "method", "code")
	require.NoError(t, err)
	twin, err := NewDesc("http_requests_total", "method", "code")
	require.NoError(t, err)
	return &Snapshot{
		Writer:  WriterID{0x01, 0x8f, 15: 0xff},
		Seq:     42,
		Started: time.Unix(1_700_000_000, 1).UTC(),
		Taken:   time.Unix(1_700_000_100, 999_999_999).UTC(),
		Counters: []Counter{
			{plain.Key(), 1_700_000_000_000_000_000, 7},
			{labelled.Key("GET", "200"), 1_700_000_000_000_000_001, math.MaxInt64},
			{plain.Key(), 0, 0},
			{twin.Key("", "\x00\xff"), math.MinInt64, math.MinInt64},
		},
		Uniques: []Uniques{{labelled.Key("GET", "200"), 5, 0, []byte("sketch")}, {plain.Key(), 6, math.MaxUint64, []byte{}}},
		Gauges:  []Gauge{{plain.Key(), math.Inf(-1)}, {plain.Key(), 0.25}},
		Final:   []Counter{{labelled.Key("PUT", "500"), 3, -1}},
		Retired: []Counter{{labelled.Key("PUT", "500"), 2, 1}},
		Folded:  []Fold{{WriterID{1}, 1}, {WriterID{2}, math.MaxUint64}},
	}
}

func encode(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := s.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	want := sample(t)
	data := encode(t, want)
	var got Snapshot
	n, err := got.ReadFrom(bytes.NewReader(data))
	require.NoError(t, err)
	require.EqualValues(t, len(data), n)
	require.Equal(t, want, &got)
	require.Equal(t, data, encode(t, &got))
}
