package redissink

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// expire ends the leases of all writers, which is what time would do.
func expire(t *testing.T, client redis.UniversalClient, k *Sink) {
	t.Helper()
	for _, p := range k.parts {
		for _, writer := range client.ZRange(t.Context(), p.leases, 0, -1).Val() {
			require.NoError(t, client.ZAdd(t.Context(), p.leases, redis.Z{Score: 1, Member: writer}).Err())
		}
	}
}

// fields returns the number of fields in a series' hash.
func fields(t *testing.T, client redis.UniversalClient, k *Sink, s series.Key) int {
	t.Helper()
	n, err := client.HLen(t.Context(), k.KeyNames(s).Counter).Result()
	require.NoError(t, err)
	return int(n)
}

func TestALateWriterGoesOnUnderANewID(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "hits_total", "x")
	c := newCounting()
	for i := range 3 {
		c.add(s, 5)
		require.NoError(t, k.Write(t.Context(), c.next()))
		expire(t, client, k)
		swept, err := k.Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, Swept{1, 1}, swept)
		assert.Equal(t, 1, fields(t, client, k, s))
		assert.EqualValues(t, 5*(i+1), totals(t, k)[s.String()])
	}
	require.NoError(t, k.Write(t.Context(), c.next()))
	assert.EqualValues(t, 15, totals(t, k)[s.String()])
}

// What a flush that never ended has sent is not in the sum: the writer, if it
// lives, counts on from the flush before.
func TestAHalfFlushOfADeadWriterDoesNotCount(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, k.Write(t.Context(), c.next()))

	c.Final = []snapshot.CounterRow{{Key: s, Created: 1, Value: 6}}
	c.Counters[0] = snapshot.CounterRow{Key: s, Created: 2, Value: 10}
	k.halfFlush(t, c.next())
	assert.EqualValues(t, 16, totals(t, k)[s.String()], "a reader sees it")
	expire(t, client, k)
	_, err := k.Sweep(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 5, totals(t, k)[s.String()])
	require.NoError(t, k.Write(t.Context(), c.next()))
	assert.EqualValues(t, 16, totals(t, k)[s.String()])
}

// halfFlush is Write but for the last step.
func (k *Sink) halfFlush(t *testing.T, s *snapshot.Snapshot) {
	claimed := k.claim(t.Context(), k.share(s))
	for _, sh := range claimed {
		sh.pick()
		for _, r := range sh.enqueue(nil) {
			if r.index < sh.requests {
				c := k.call(r)
				k.run(t.Context(), c)
				require.NoError(t, c.cmd.Err())
			}
		}
	}
}

// Rows are as many as series and live writers, however many writers there were.
func TestShortLivedWritersLeaveNothingBehind(t *testing.T) {
	const writers, atOnce, nSeries = 10_000, 500, 5
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	var keys []series.Key
	for i := range nSeries {
		keys = append(keys, key(t, "hits_total", fmt.Sprint(i)))
	}
	live := func(i int) { // a process that counts i and more, once
		c := newCounting()
		for j, s := range keys {
			c.add(s, int64(i+j))
		}
		one, err := New(Options{Client: client, Prefix: prefix})
		assert.NoError(t, err)
		assert.NoError(t, one.Write(t.Context(), c.next()))
	}
	for first := 0; first < writers; first += atOnce {
		var fleet sync.WaitGroup
		for lane := range runtime.GOMAXPROCS(0) {
			fleet.Go(func() {
				for i := first + lane; i < first+atOnce; i += runtime.GOMAXPROCS(0) {
					live(i)
				}
			})
		}
		fleet.Wait()
		expire(t, client, k)
		swept, err := k.Sweep(t.Context())
		require.NoError(t, err)
		require.Equal(t, Swept{atOnce, atOnce * nSeries}, swept)
	}
	got := totals(t, k)
	for j, s := range keys {
		assert.EqualValues(t, writers*(writers-1)/2+writers*j, got[s.String()])
		assert.Equal(t, 1, fields(t, client, k, s))
	}
}

func TestTombstonesAreForgottenInTime(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, k.Write(t.Context(), c.next()))
	for range 2 { // it dies, and 30 days pass
		expire(t, client, k)
		_, err := k.Sweep(t.Context())
		require.NoError(t, err)
	}
	assert.Zero(t, client.Exists(t.Context(), k.parts[0].writers, k.parts[0].leases).Val())

	// The process was asleep all the time.
	k.sources[c.Writer].shares[0].heardAt -= (tombstoneFor + time.Minute).Milliseconds()
	c.add(s, 1)
	require.NoError(t, k.Write(t.Context(), c.next()))
	assert.EqualValues(t, 6, totals(t, k)[s.String()])

	// Its snapshot was in a file all the time.
	old := newCounting()
	old.Taken = time.Now().Add(-tombstoneFor)
	old.add(s, 100)
	require.ErrorIs(t, k.Write(t.Context(), old.next()), export.ErrTooLate)
	assert.EqualValues(t, 6, totals(t, k)[s.String()])
}

func TestEarlierRuns(t *testing.T) {
	client, prefix := connect(t)
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, open(t, Options{Client: client, Prefix: prefix}).Write(t.Context(), c.next()))

	c.add(s, 1)
	last := *c.next()
	k := open(t, Options{Client: client, Prefix: prefix})
	for range 2 {
		require.NoError(t, k.Write(t.Context(), &last))
		assert.EqualValues(t, 6, totals(t, k)[s.String()])
	}

	expire(t, client, k)
	_, err := k.Sweep(t.Context())
	require.NoError(t, err)
	k = open(t, Options{Client: client, Prefix: prefix})
	require.NoError(t, k.Write(t.Context(), &last), "the sum holds it")
	c.add(s, 1)
	err = k.Write(t.Context(), c.next())
	require.ErrorIs(t, err, export.ErrTooLate)
	assert.EqualValues(t, 6, totals(t, k)[s.String()])
}

func TestAClonedProcessGoesOnUnderAnotherID(t *testing.T) {
	client, prefix := connect(t)
	s := key(t, "hits_total", "x")
	k := open(t, Options{Client: client, Prefix: prefix})
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, k.Write(t.Context(), c.next()))

	clone := open(t, Options{Client: client, Prefix: prefix})
	d := *c
	d.Counters = slices.Clone(c.Counters)
	for i := range 10 {
		d.add(s, 10)
		require.NoError(t, clone.Write(t.Context(), d.next()))
		c.add(s, 1)
		require.NoError(t, k.Write(t.Context(), c.next()))
		assert.EqualValues(t, 5+11*(i+1), totals(t, k)[s.String()])
	}
	assert.Equal(t, 2, fields(t, client, k, s))
}

// What a dead writer's flush that never ended has left of a bucket is taken back,
// also where the bucket is zero again by the next flush.
func TestAnUnfinishedFlushIsTakenBackFromABucketThatIsZeroAgain(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	begin, truth := minuteAgo(), map[bucketKey]int64{}
	v, s := newViewing(truth, begin), key(t, "views_total", "x")
	v.view(s, begin, 5)
	require.NoError(t, k.Write(t.Context(), v.snapshot()))

	v.view(s, begin.Add(time.Second), 4)
	requests := 0
	k.partFlush(t, v.snapshot(), func() bool { requests++; return requests <= 2 }) // rows and buckets, not the end
	require.Equal(t, 3, requests)
	expire(t, client, k)
	_, err := k.Sweep(t.Context())
	require.NoError(t, err)

	v.view(s, begin.Add(time.Second), -4)
	require.NoError(t, k.Write(t.Context(), v.snapshot()))
	checkViews(t, k, truth)
	v.view(s, begin.Add(time.Second), 1)
	require.NoError(t, k.Write(t.Context(), v.snapshot()))
	checkViews(t, k, truth)
}
