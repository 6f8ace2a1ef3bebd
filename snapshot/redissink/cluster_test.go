package redissink

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

func TestCluster(t *testing.T) {
	client := startCluster(t, 3)
	const writers, series = 3, 3000
	want := map[string]int64{}
	minute := minuteAgo()
	u := sketchOf(t, hll.Options{Hash: hll.Redis}, 0, 5000)
	var k *Sink
	for w := range writers {
		k = open(t, Options{Client: client, Prefix: "app:"})
		c := newCounting()
		c.Uniques = []snapshot.UniquesRow{{Key: key(t, "visitors", "x"), Created: 1, Scheme: u.Scheme(), Sketch: encoded(t, u)}}
		c.Started = minute
		for round := range 3 {
			for i := range series {
				s := key(t, "hits_total", "}"+strconv.Itoa(i))
				c.add(s, int64(w*round*i))
				want[s.String()] += int64(w * round * i)
			}
			c.Windows = nil
			for i := range 100 {
				c.Windows = append(c.Windows, snapshot.WindowRows{Key: key(t, "hits_total", strconv.Itoa(i)), Rows: []window.Row{
					{Resolution: time.Minute, Start: minute.UnixNano(), Width: time.Minute, Count: int64(round * i)},
				}})
			}
			require.NoError(t, k.Write(t.Context(), c.next()))
		}
	}
	assert.Equal(t, want, totals(t, k))

	for _, p := range k.parts {
		for _, writer := range client.ZRange(t.Context(), p.leases, 0, -1).Val() {
			client.ZAdd(t.Context(), p.leases, redis.Z{Score: 1, Member: writer})
		}
	}
	swept, err := k.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Swept{writers * len(k.parts), writers * series}, swept)
	assert.Equal(t, want, totals(t, k))

	s := key(t, "hits_total", "}1")
	n, _, err := k.Count(t.Context(), s, 0)
	require.NoError(t, err)
	assert.Equal(t, want[s.String()], n)
	count, err := client.PFCount(t.Context(), k.KeyNames(key(t, "visitors", "x")).Uniques).Result()
	require.NoError(t, err)
	assert.InEpsilon(t, 5000, count, 0.03)

	for i := 1; i < 100; i++ {
		s := key(t, "hits_total", strconv.Itoa(i))
		got, err := k.Window(t.Context(), s, time.Minute, minute, time.Now())
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.EqualValues(t, writers*2*i, got[0].Count)
		total, err := client.HGet(t.Context(), k.ViewsKey(s, time.Minute, minute), "total").Int()
		require.NoError(t, err)
		require.Equal(t, writers*2*i, total)
	}

	used := map[string]bool{} // nodes
	var mu sync.Mutex
	require.NoError(t, client.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		used[node.Options().Addr] = node.DBSize(ctx).Val() > 0
		return nil
	}))
	for addr, any := range used {
		assert.True(t, any, "%s has no keys", addr)
	}
}

// A page is whole and in order whatever partitions its series are in, and says
// what it lacks.
func TestPartialAnswers(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix, Partitions: 3})
	c := newCounting()
	for i := range 30 {
		c.add(key(t, "hits_total", strconv.Itoa(i)), 1)
	}
	require.NoError(t, k.Write(t.Context(), c.next()))
	broken := key(t, "hits_total", "7")
	require.NoError(t, client.Del(t.Context(), k.KeyNames(broken).Counter).Err())
	require.NoError(t, client.Set(t.Context(), k.KeyNames(broken).Counter, "x", 0).Err())

	got, err := k.Totals(t.Context(), export.Query{})
	var partial *export.PartialError
	require.ErrorAs(t, err, &partial)
	assert.Equal(t, []string{broken.String()}, partial.Missing)
	assert.ErrorIs(t, err, export.ErrForeign)
	assert.Len(t, got, 29)

	require.NoError(t, client.Del(t.Context(), k.parts[1].counters).Err())
	require.NoError(t, client.Set(t.Context(), k.parts[1].counters, "x", 0).Err())
	got, err = k.Totals(t.Context(), export.Query{})
	require.ErrorAs(t, err, &partial)
	assert.Contains(t, partial.Missing, k.parts[1].counters)
	assert.NotEmpty(t, got)

	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Totals(late, export.Query{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestQueries(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix, Partitions: 2})
	c := newCounting()
	var names []string
	var keys []series.Key
	for _, name := range []string{"ab", "a", "b"} {
		for _, v := range []string{"1", "2", "\xff"} {
			s := key(t, name, v)
			c.add(s, 1)
			names, keys = append(names, s.String()), append(keys, s)
		}
	}
	require.NoError(t, k.Write(t.Context(), c.next()))
	for _, test := range []struct {
		q    export.Query
		want []string
	}{
		{export.Query{}, names},
		{export.Query{Limit: 4}, names[:4]},
		{export.Query{After: keys[3], Limit: 2}, names[4:6]},
		{export.Query{Prefix: "a"}, names[:6]},
		{export.Query{Prefix: "a{"}, names[3:6]},
		{export.Query{Prefix: "a", After: key(t, "b", "")}, nil},
		{export.Query{Prefix: "b", After: key(t, "a", "")}, names[6:]},
		{export.Query{Prefix: "\xff"}, nil},
	} {
		page, err := k.Totals(t.Context(), test.q)
		require.NoError(t, err)
		var got []string
		for _, total := range page {
			got = append(got, total.Key.String())
			assert.Equal(t, 1, total.Writers)
		}
		assert.Equal(t, test.want, got, "%+v", test.q)
	}
	_, err := k.Totals(t.Context(), export.Query{Limit: -1})
	assert.Error(t, err)
}
