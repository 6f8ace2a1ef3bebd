package redissink

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// bucketKey tells one bucket in tests.
type bucketKey struct {
	key        series.Key
	resolution time.Duration
	start      int64
}

// viewing is a process with windows over some series, at two resolutions.
type viewing struct {
	*counting
	truth map[bucketKey]int64 // of the fleet
	rows  map[series.Key]map[time.Duration][]window.Row
}

var viewed = []time.Duration{time.Second, time.Minute}

func newViewing(truth map[bucketKey]int64, started time.Time) *viewing {
	v := &viewing{newCounting(), truth, map[series.Key]map[time.Duration][]window.Row{}}
	v.Started = started
	return v
}

// view counts n at a time.
func (v *viewing) view(k series.Key, at time.Time, n int64) {
	v.add(k, n)
	if v.rows[k] == nil {
		v.rows[k] = map[time.Duration][]window.Row{}
	}
	for _, r := range viewed {
		start := at.Truncate(r).UnixNano()
		v.truth[bucketKey{k, r, start}] += n
		rows := v.rows[k][r]
		if len(rows) == 0 || rows[len(rows)-1].Start != start {
			rows = append(rows, window.Row{Resolution: r, Start: start, Width: r})
		}
		rows[len(rows)-1].Count += n
		v.rows[k][r] = rows
	}
}

// snapshot returns the next snapshot.
func (v *viewing) snapshot() *snapshot.Snapshot {
	v.Windows = nil
	for k, resolutions := range v.rows {
		w := snapshot.WindowRows{Key: k}
		w.Rows = append(w.Rows, window.Row{Resolution: time.Second, Start: v.Started.UnixNano() - 1e9, Count: 1_000_000, Earlier: true})
		for _, rows := range resolutions {
			w.Rows = append(w.Rows, rows...)
		}
		v.Windows = append(v.Windows, w)
	}
	return v.next()
}

// checkViews compares all buckets with the truth.
func checkViews(t *testing.T, k *Sink, truth map[bucketKey]int64) {
	t.Helper()
	type curve struct {
		key        series.Key
		resolution time.Duration
	}
	ends := map[curve][2]int64{}
	for b := range truth {
		c := curve{b.key, b.resolution}
		e, ok := ends[c]
		if !ok {
			e = [2]int64{b.start, b.start}
		}
		ends[c] = [2]int64{min(e[0], b.start), max(e[1], b.start)}
	}
	for c, e := range ends {
		want := map[int64]int64{}
		for b, n := range truth {
			if b.key == c.key && b.resolution == c.resolution && n != 0 {
				want[b.start] = n
			}
		}
		buckets, err := k.Window(t.Context(), c.key, c.resolution, time.Unix(0, e[0]), time.Unix(0, e[1]+1))
		require.NoError(t, err)
		got := map[int64]int64{}
		for i, b := range buckets {
			got[b.Start.UnixNano()] = b.Count
			if i > 0 {
				require.True(t, buckets[i-1].Start.Before(b.Start))
			}
		}
		require.Equal(t, want, got, "%v at %v", c.key, c.resolution)
	}
}

// checkLives makes sure that no bucket lives for ever, or for another time than it
// should.
func checkLives(t *testing.T, client redis.UniversalClient, k *Sink, truth map[bucketKey]int64) {
	t.Helper()
	for b := range truth {
		name := k.ViewsKey(b.key, b.resolution, time.Unix(0, b.start))
		at, err := client.PExpireTime(t.Context(), name).Result()
		require.NoError(t, err)
		if at == -2 { // there is no such key
			continue
		}
		keep := k.kept(b.resolution)
		life := time.UnixMilli(at.Milliseconds()).Sub(time.Unix(0, b.start).Add(b.resolution))
		require.GreaterOrEqual(t, life, keep, name)
		require.LessOrEqual(t, life, keep+keep/jitterShare, name)
	}
}

// minuteAgo returns the beginning of a minute that is over.
func minuteAgo() time.Time { return time.Now().Add(-time.Minute).Truncate(time.Minute) }

// Conservation: the buckets of live, late, dead and cloned writers add up to what
// was counted then, whatever flushes break off.
func TestViewsOfAllWriters(t *testing.T) {
	client, prefix := connect(t)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 7))
	t.Logf("seed %d", seed)
	series := []series.Key{key(t, "views_total", "a"), key(t, "views_total", "}:{\xff")}
	truth := map[bucketKey]int64{}
	begin := minuteAgo()
	var sinks []*Sink
	var fleet []*viewing
	for range 3 {
		sinks = append(sinks, open(t, Options{Client: client, Prefix: prefix, Partitions: 2}))
		fleet = append(fleet, newViewing(truth, begin))
	}
	for step := range 60 {
		at := begin.Add(time.Duration(step) * 700 * time.Millisecond)
		for i, v := range fleet {
			v.view(series[rng.IntN(2)], at, rng.Int64N(10)-3)
			switch rng.IntN(4) {
			case 0:
				require.NoError(t, sinks[i].Write(t.Context(), v.snapshot()))
			case 1: // some of its requests arrive
				sinks[i].partFlush(t, v.snapshot(), func() bool { return rng.IntN(2) == 0 })
			}
		}
		if step%10 == 9 {
			expire(t, client, sinks[0])
			_, err := sinks[0].Sweep(t.Context())
			require.NoError(t, err)
		}
	}
	for i, v := range fleet {
		require.NoError(t, sinks[i].Write(t.Context(), v.snapshot()))
	}
	checkViews(t, sinks[0], truth)
	checkLives(t, client, sinks[0], truth)
}

// What is sent twice, late or out of order leaves the same state, to the byte.
func TestViewsMayComeTwiceLateAndInAnyOrder(t *testing.T) {
	client, prefix := connect(t)
	s := key(t, "views_total", "x")
	begin := minuteAgo()
	truth := map[bucketKey]int64{}
	v := newViewing(truth, begin)
	k := open(t, Options{Client: client, Prefix: prefix})
	var late []*call
	for round := range 4 {
		for i := range 2 * bucketsPerCall {
			v.view(s, begin.Add(time.Duration(round*2*bucketsPerCall+i)*50*time.Millisecond), int64(round*i))
			v.view(key(t, "views_total", strconv.Itoa(i)), begin, 1)
		}
		claimed := k.claim(t.Context(), k.share(v.snapshot()))
		require.Len(t, claimed, 1)
		sh := claimed[0]
		sh.pick()
		queue := sh.enqueue(nil)
		ends := len(queue) - 1
		for i := range ends {
			for _, r := range []int{i + 1, i, i, 0} {
				if r < ends {
					k.again(t, k.call(queue[r]))
				}
			}
		}
		for _, abandoned := range late {
			assert.Zero(t, k.again(t, abandoned), "of a flush before")
		}
		last := k.call(queue[ends])
		k.run(t.Context(), last)
		sh.answered(queue[ends], last)
		require.NoError(t, sh.err)
		checkViews(t, k, truth)
		checkLives(t, client, k, truth)

		dump := dumpAll(t, client, prefix)
		late = late[:0]
		for _, r := range queue[:ends] {
			late = append(late, k.call(r))
		}
		for i := range late {
			require.Zero(t, k.again(t, late[len(late)-1-i]), "of a flush that has ended")
		}
		require.Equal(t, dump, dumpAll(t, client, prefix))
	}
}

// dumpAll returns all keys with a prefix, and when they expire.
func dumpAll(t *testing.T, client redis.UniversalClient, prefix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	names, err := client.Keys(t.Context(), prefix+"views:*").Result()
	require.NoError(t, err)
	for _, name := range names {
		all[name] = client.Dump(t.Context(), name).Val() + client.PExpireTime(t.Context(), name).Val().String()
	}
	return all
}

// A server that comes back with an older state, or with none, has the buckets again
// that the windows still know.
func TestViewsAreHealed(t *testing.T) {
	server := startServer(t)
	client := server.client()
	k := open(t, Options{Client: client})
	s := key(t, "views_total", "x")
	begin := minuteAgo()
	truth := map[bucketKey]int64{}
	v, w := newViewing(truth, begin), newViewing(truth, begin)
	other := open(t, Options{Client: client})
	for i := range 40 {
		v.view(s, begin.Add(time.Duration(i)*time.Second), 3)
		w.view(s, begin.Add(time.Duration(i)*time.Second), -1)
		require.NoError(t, k.Write(t.Context(), v.snapshot()))
		require.NoError(t, other.Write(t.Context(), w.snapshot()))
		if i == 20 {
			require.NoError(t, client.Save(t.Context()).Err())
			server.Keep("old")
		}
	}
	checkViews(t, k, truth)
	server.Kill()
	server.Bring("old")
	server.Start()
	require.NoError(t, k.Write(t.Context(), v.snapshot()))
	require.NoError(t, other.Write(t.Context(), w.snapshot()))
	checkViews(t, k, truth)
	checkLives(t, client, k, truth)
}

// What is too old is not stored, and what lies ahead not for longer than a bucket
// of now, wherever the writer's clock is.
func TestViewsNeverLiveForEver(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "views_total", "x")
	send := func(start int64, resolution time.Duration) time.Duration {
		t.Helper()
		c := newCounting()
		c.Windows = []snapshot.WindowRows{{Key: s, Rows: []window.Row{{Resolution: resolution, Start: start, Count: 1}}}}
		c.Started = time.Unix(0, math.MinInt64)
		require.NoError(t, k.Write(t.Context(), c.next()))
		return client.PTTL(t.Context(), k.ViewsKey(s, resolution, time.Unix(0, start-start%int64(resolution)))).Val()
	}
	const missing = -2
	now := time.Now()
	for _, r := range []time.Duration{time.Nanosecond, time.Millisecond, time.Second, time.Minute, 24 * time.Hour, math.MaxInt64 / 4} {
		longest := r + k.kept(r) + k.kept(r)/jitterShare
		for _, start := range []int64{0, now.Add(-longest).UnixNano(), now.UnixNano(), now.AddDate(1, 0, 0).UnixNano(), math.MaxInt64 - 1} {
			life := send(start-start%int64(r), r)
			if life != missing {
				assert.Greater(t, life, time.Duration(0), "%v at %d", r, start)
				assert.LessOrEqual(t, life, longest, "%v at %d", r, start)
			}
		}
	}
	assert.EqualValues(t, missing, send(0, time.Minute))
	assert.EqualValues(t, missing, send(-int64(time.Hour), time.Minute))

	name := k.ViewsKey(s, time.Hour, now.Truncate(time.Hour))
	send(now.Truncate(time.Hour).UnixNano(), time.Hour)
	require.True(t, client.Persist(t.Context(), name).Val())
	assert.Greater(t, send(now.Truncate(time.Hour).UnixNano(), time.Hour), time.Hour, "somebody made it live for ever")
	assert.Equal(t, "2", client.HGet(t.Context(), name, "total").Val())
}

// Counts move as int64 do, wherever they are.
func TestMovedInScripts(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	moved := newScript(luaNumber, "return moved(ARGV[1], ARGV[2], ARGV[3])")
	numbers := []int64{0, 1, -1, 999_999_999_999_999, -99_999_999_999_999, 1e15, 1<<53 + 1, -1 << 32, math.MaxInt64, math.MinInt64}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, c := range numbers {
				call := &call{script: &moved, keys: []string{prefix}, args: []any{a, b, c}}
				k.run(t.Context(), call)
				got, err := call.cmd.Text()
				require.NoError(t, err)
				require.Equal(t, strconv.FormatInt(a+c-b, 10), got, "%d + %d - %d", a, c, b)
			}
		}
	}
}

func TestWindowSpans(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "views_total", "x")
	truth := map[bucketKey]int64{}
	begin := minuteAgo()
	v := newViewing(truth, begin)
	for i := range 5 {
		v.view(s, begin.Add(time.Duration(i)*time.Second), int64(i))
	}
	require.NoError(t, k.Write(t.Context(), v.snapshot()))
	for _, test := range []struct {
		from, to time.Duration
		want     []int64
	}{
		{0, 5 * time.Second, []int64{1, 2, 3, 4}},
		{time.Second, 3 * time.Second, []int64{1, 2}},
		{1, 3*time.Second + 1, []int64{1, 2, 3}},
		{2 * time.Second, 2 * time.Second, nil},
		{3 * time.Second, 2 * time.Second, nil},
		{time.Hour, 2 * time.Hour, nil},
	} {
		buckets, err := k.Window(t.Context(), s, time.Second, begin.Add(test.from), begin.Add(test.to))
		require.NoError(t, err)
		var got []int64
		for _, b := range buckets {
			assert.Equal(t, begin.Add(time.Duration(b.Count)*time.Second).UnixNano(), b.Start.UnixNano())
			got = append(got, b.Count)
		}
		assert.Equal(t, test.want, got, "%v to %v", test.from, test.to)
	}
	got, err := k.Window(t.Context(), s, 1e9*time.Second, time.Time{}, time.Now().AddDate(1000, 0, 0))
	assert.NoError(t, err, "all of time, in few buckets")
	assert.Empty(t, got)
	for _, r := range []time.Duration{0, -1, time.Second} {
		_, err := k.Window(t.Context(), s, r, time.Time{}, begin)
		assert.Error(t, err, "%v", r)
	}
}

// An answer says what it lacks.
func TestPartialWindows(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "views_total", "x")
	begin := minuteAgo()
	v := newViewing(map[bucketKey]int64{}, begin)
	for i := range 10 {
		v.view(s, begin.Add(time.Duration(i)*time.Second), 1)
	}
	require.NoError(t, k.Write(t.Context(), v.snapshot()))
	name := func(i int) string { return k.ViewsKey(s, time.Second, begin.Add(time.Duration(i)*time.Second)) }
	for _, i := range []int{2, 5, 6, 7} {
		require.NoError(t, client.Del(t.Context(), name(i)).Err())
		require.NoError(t, client.Set(t.Context(), name(i), "x", time.Minute).Err())
	}
	got, err := k.Window(t.Context(), s, time.Second, begin, begin.Add(time.Minute))
	var partial *export.PartialError
	require.ErrorAs(t, err, &partial)
	require.ErrorIs(t, err, export.ErrForeign)
	assert.Equal(t, []string{name(2), name(5) + " to " + name(7)}, partial.Missing)
	assert.Len(t, got, 6)

	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Window(late, s, time.Second, begin, begin.Add(time.Minute))
	require.ErrorAs(t, err, &partial)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{name(0) + " to " + name(59)}, partial.Missing)
}
