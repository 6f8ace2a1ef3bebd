package sinkkit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

func TestBucketStart(t *testing.T) {
	for _, test := range []struct{ start, want int64 }{
		{0, 0}, {-1, 0}, {-2, 0}, {-3, -10}, {-10, -10}, {-12, -10}, {-13, -20}, {7, 0}, {8, 10}, {9, 10}, {17, 10}, {18, 20},
	} {
		assert.Equal(t, test.want, bucketStart(test.start, 10), "start %d", test.start)
	}
	hour := int64(time.Hour)
	assert.Equal(t, hour, bucketStart(hour-int64(3*time.Minute), time.Hour))
	assert.Zero(t, bucketStart(hour-int64(4*time.Minute), time.Hour), "a window that was opened then")
}

// flushWindows sends the rows to a store that holds what it is sent, or that
// loses it.
func flushWindows(t *testing.T, m *Mirror, b *BucketMirror, st *Standing, s *snapshot.Snapshot, held bool) []BucketRow {
	t.Helper()
	s.Seq++
	m.Follow(s)
	step, err := m.Settle(*st)
	require.NoError(t, err)
	require.Equal(t, Send, step)
	m.Pick(s)
	rows := b.Pick(m, s)
	if held {
		*st = Standing{Seq: s.Seq, Mark: m.Mark()}
		m.Hold(s)
	}
	return rows
}

func TestBucketMirrorSendsWhatChanged(t *testing.T) {
	key := simKeys(t)[0]
	rows := []window.Row{{Resolution: 10, Start: 90, Count: 1_000}, {Resolution: 10, Start: 101, Count: 5}, {Resolution: 10, Start: 109, Count: 6}}
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: time.Unix(0, 100), Windows: []snapshot.WindowRows{{Key: key, Rows: rows}}}
	var m Mirror
	var b BucketMirror
	var st Standing
	send := func(held bool) []BucketRow {
		t.Helper()
		return flushWindows(t, &m, &b, &st, s, held)
	}
	assert.Equal(t, []BucketRow{{key, 10, 100, 5}, {key, 10, 110, 6}}, send(false))
	assert.Equal(t, []BucketRow{{key, 10, 100, 5}, {key, 10, 110, 6}}, send(true), "nobody took them")
	assert.Empty(t, send(true))

	s.Windows[0].Rows = append(rows, window.Row{Resolution: 10, Start: 115, Count: 1}, window.Row{Resolution: 10, Start: 120, Width: 50})
	assert.Equal(t, []BucketRow{{key, 10, 110, 7}}, send(true), "two rows of a bucket, and none of idle time")

	s.Windows[0].Rows[3].Count = -6
	assert.Equal(t, []BucketRow{{key, 10, 110, 0}}, send(true), "what was added has been taken back")

	st = Standing{} // the store lost all
	assert.Equal(t, []BucketRow{{key, 10, 100, 5}, {key, 10, 110, 0}}, send(true))
	st.Dead = true // and then added all up
	m.Follow(s)
	step, err := m.Settle(st)
	require.NoError(t, err)
	require.Equal(t, Done, step)
	s.Seq++
	m.Follow(s)
	step, err = m.Settle(st)
	require.NoError(t, err)
	require.Equal(t, Ask, step)
	st = Standing{}
	s.Windows[0].Rows[3].Count = 3
	assert.Equal(t, []BucketRow{{key, 10, 110, 9}}, send(true))
}
