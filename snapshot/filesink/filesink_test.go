package filesink

import (
	"testing"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/stretchr/testify/require"
)

func total(snaps []*snapshot.Snapshot) (sum int64) {
	for _, s := range snaps {
		for c := range s.AllCounters() {
			sum += c.Value
		}
	}
	return sum
}

func TestRestartGoesOn(t *testing.T) {
	dir := t.TempDir()
	desc, err := snapshot.NewDesc("hits_total")
	require.NoError(t, err)
	for run := range 5 {
		k, err := Open(Options{Dir: dir})
		require.NoError(t, err)
		require.EqualValues(t, 10*run, total(k.Restored()))
		w := snapshot.NewWriterID()
		for seq := range uint64(10) {
			s := &snapshot.Snapshot{Writer: w, Seq: seq + 1, Counters: []snapshot.Counter{{Key: desc.Key(), Value: int64(seq + 1)}}}
			require.NoError(t, k.Write(t.Context(), s))
			require.NoError(t, k.Write(t.Context(), s))
		}
		for _, s := range k.Restored() {
			if !s.Writer.IsZero() {
				require.NoError(t, k.Fold(s.Writer))
			}
		}
		require.NoError(t, k.Close())
	}
}
