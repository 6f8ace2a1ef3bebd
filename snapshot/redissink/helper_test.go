package redissink

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// connect returns a client of a Redis, and a prefix of the test's own
// whose keys are deleted in the end.
func connect(t testing.TB) (redis.UniversalClient, string) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: servertest.RedisAddr(t)})
	t.Cleanup(func() { client.Close() })
	prefix := "test-" + rand.Text() + ":"
	t.Cleanup(func() {
		ctx := context.Background()
		keys := client.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			client.Unlink(ctx, keys.Val())
		}
	})
	return client, prefix
}

func open(t testing.TB, o Options) *Sink {
	t.Helper()
	k, err := New(o)
	require.NoError(t, err)
	return k
}

// key returns the key of a series with one label.
func key(t testing.TB, name, value string) series.Key {
	t.Helper()
	d, err := series.NewDesc(name, "l")
	require.NoError(t, err)
	return d.Key(value)
}

// counting is what a sink gets snapshots of in tests.
type counting struct {
	snapshot.Snapshot
	at map[string]int // in Counters
}

func newCounting() *counting {
	return &counting{
		Snapshot: snapshot.Snapshot{Writer: snapshot.NewWriterID(), Taken: time.Now()},
		at:       map[string]int{},
	}
}

func (c *counting) add(k series.Key, n int64) {
	i, ok := c.at[k.String()]
	if !ok {
		i = len(c.Counters)
		c.at[k.String()] = i
		c.Counters = append(c.Counters, snapshot.CounterRow{Key: k, Created: 1})
	}
	c.Counters[i].Value += n
}

// next returns the next snapshot.
func (c *counting) next() *snapshot.Snapshot {
	c.Seq++
	return &c.Snapshot
}

// totals returns all totals by key.
func totals(t testing.TB, k *Sink) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	var q export.Query
	for {
		page, err := k.Totals(t.Context(), q)
		require.NoError(t, err)
		for _, total := range page {
			id := total.Key.String()
			require.Greater(t, id, q.After.String())
			all[id] = total.Value
			q.After = total.Key
		}
		if len(page) == 0 {
			return all
		}
	}
}

// partFlush is Write, but breaks off after any request.
func (k *Sink) partFlush(t *testing.T, s *snapshot.Snapshot, goOn func() bool) {
	for _, sh := range k.claim(t.Context(), k.share(s)) {
		sh.pick()
		for _, r := range sh.enqueue(nil) {
			if !goOn() {
				break
			}
			c := k.call(r)
			k.run(t.Context(), c)
			require.NoError(t, c.cmd.Err())
			sh.answered(r, c)
		}
	}
}
