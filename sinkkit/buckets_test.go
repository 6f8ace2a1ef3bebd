package sinkkit

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

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
	rows := []window.Row{{Resolution: 10, Start: 101, Count: 1_000, Earlier: true}, {Resolution: 10, Start: 101, Count: 5}, {Resolution: 10, Start: 110, Count: 6}}
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

// A store takes back what a flush that never ended has left of a bucket when the
// bucket comes under the new id, so it has to come even if it is zero again.
func TestBucketMirrorSendsUnderANewIDWhatIsZeroAgain(t *testing.T) {
	key := simKeys(t)[0]
	rows := []window.Row{{Resolution: 10, Start: 100, Count: 5}}
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1, Windows: []snapshot.WindowRows{{Key: key, Rows: rows}}}
	var m Mirror
	var b BucketMirror
	var st Standing
	require.Len(t, flushWindows(t, &m, &b, &st, s, true), 1)

	s.Seq, s.Windows[0].Rows = 2, append(rows, window.Row{Resolution: 10, Start: 110, Count: 4})
	require.Equal(t, []BucketRow{{key, 10, 110, 4}}, flushWindows(t, &m, &b, &st, s, false))
	st.Dead = true
	for seq := uint64(3); seq < 5; seq++ { // nor does the first flush under the new id end
		s.Seq, s.Windows[0].Rows[1].Count = seq, 0
		m.Follow(s)
		if step, err := m.Settle(st); step == Ask {
			require.NoError(t, err)
			st = Standing{}
		}
		require.Contains(t, flushWindows(t, &m, &b, &st, s, seq == 4), BucketRow{key, 10, 110, 0})
	}
	s.Seq = 5
	require.Empty(t, flushWindows(t, &m, &b, &st, s, true))
}

// heldBucket is a row of a store: a writer's count of a bucket.
type heldBucket struct {
	writer     snapshot.WriterID
	resolution time.Duration
	start      int64
}

// TestBucketsOfRestarts runs a window in writers that start at any offset of a
// minute, one after the other, and flushes it to a store. There, every bucket
// sums to what was counted in it, at each resolution.
func TestBucketsOfRestarts(t *testing.T) {
	ladder := window.Options{Resolution: time.Second, Buckets: 400, Coarser: []window.Rung{{Resolution: 10 * time.Second, Buckets: 90}, {Resolution: time.Minute, Buckets: 90}}}
	key := simKeys(t)[0]
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			store, truth := map[heldBucket]int64{}, map[heldBucket]int64{}
			var views stripe.Counter
			var rows []window.Row
			for range 3 {
				time.Sleep(time.Duration(rng.Int64N(int64(time.Minute))) | 1 - time.Duration(time.Now().UnixNano()%2)) // no add is at a boundary
				w, err := window.New(&views, ladder)
				require.NoError(t, err)
				require.NoError(t, w.Restore(rows))
				s := &snapshot.Snapshot{Writer: snapshot.NewWriterID()}
				var m Mirror
				var b BucketMirror
				var st Standing
				flush := func(held bool) {
					rows = w.AppendRows(nil)
					s.Windows = []snapshot.WindowRows{{Key: key, Rows: rows}}
					for _, r := range flushWindows(t, &m, &b, &st, s, held) {
						if held {
							store[heldBucket{s.Writer, r.Resolution, r.Start}] = r.Count
						}
					}
				}
				for range 300 {
					n := 1 + rng.Int64N(9)
					views.Add(n)
					for _, r := range w.Rungs() {
						truth[heldBucket{resolution: r.Resolution, start: time.Now().Truncate(r.Resolution).UnixNano()}] += n
					}
					time.Sleep(time.Duration(rng.Int64N(int64(400*time.Millisecond))) &^ 1)
					synctest.Wait()
					if rng.IntN(20) == 0 {
						flush(rng.IntN(4) > 0)
					}
				}
				flush(true)
				w.Close()
			}
			sums := map[heldBucket]int64{}
			for h, n := range store {
				sums[heldBucket{resolution: h.resolution, start: h.start}] += n
			}
			require.Equal(t, truth, sums)
		})
	}
}
