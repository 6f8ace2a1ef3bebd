package kafkasink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

func TestWindows(t *testing.T) {
	c := broker(t)
	require.NoError(t, c.CreateTopic("windows", partitions, map[string]string{"cleanup.policy": "compact,delete"}))
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	views := key(t, "views", "x")
	var k *Sink
	for range 2 {
		var err error
		k, err = New(Options{Client: client(t, c), Topic: topic, Windows: "windows"})
		require.NoError(t, err)
		s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: start}
		for i := range int64(5) {
			s.Windows = []snapshot.WindowRows{{Key: views, Rows: []window.Row{
				{Resolution: time.Minute, Start: start.UnixNano(), Width: time.Minute, Count: 2},
				{Resolution: time.Minute, Start: start.Add(time.Minute).UnixNano(), Width: time.Minute, Count: i},
			}}}
			s.Seq++
			require.NoError(t, k.Write(t.Context(), s))
		}
		require.NoError(t, k.Close())
	}
	for range 2 {
		got, err := k.Window(t.Context(), views, time.Minute, start, start.Add(time.Hour))
		require.NoError(t, err)
		require.Len(t, got, 2)
		assert.True(t, got[0].Start.Equal(start))
		assert.Equal(t, []int64{4, 8}, []int64{got[0].Count, got[1].Count})
		got, err = k.Window(t.Context(), views, time.Minute, start.Add(time.Minute), start.Add(time.Hour))
		require.NoError(t, err)
		assert.Len(t, got, 1)
		c.Compact()
	}
	none := open(t, client(t, c))
	_, err := none.Window(t.Context(), views, time.Minute, start, start)
	require.ErrorIs(t, err, export.ErrSchema)
	_, err = New(Options{Client: client(t, c), Topic: topic, Windows: topic})
	require.Error(t, err)
}
