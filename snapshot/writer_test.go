package snapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWriterIDs(t *testing.T) {
	const n = 10_000
	before := time.Now().Truncate(time.Millisecond)
	seen := map[WriterID]bool{}
	last := WriterID{}
	for range n {
		w := NewWriterID()
		require.False(t, seen[w], "minted twice")
		seen[w] = true
		require.False(t, w.IsZero())
		require.EqualValues(t, 7, w[6]>>4, "UUID version")
		require.EqualValues(t, 0b10, w[8]>>6, "UUID variant")
		require.False(t, w.Time().Before(last.Time()))
		if w.Time().After(last.Time()) {
			require.Positive(t, w.Compare(last))
			require.Greater(t, w.String(), last.String())
		}
		again, err := ParseWriterID(w.String())
		require.NoError(t, err)
		require.Equal(t, w, again)
		last = w
	}
	require.False(t, last.Time().Before(before))
	require.False(t, last.Time().After(time.Now()))
}

func TestParseWriterIDRefuses(t *testing.T) {
	w := NewWriterID().String()
	for _, s := range []string{"", w[1:], w + "0", "g" + w[1:], w[:31] + " "} {
		_, err := ParseWriterID(s)
		require.Error(t, err, s)
	}
	require.True(t, WriterID{}.IsZero())
}
