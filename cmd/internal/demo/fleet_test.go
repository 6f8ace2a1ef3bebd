//go:build hotcount_stores

package demo

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/internal/servertest"
)

// store returns a store in Redis that is this test's own.
func store(t *testing.T) *sinks.Target {
	t.Helper()
	redisServer := servertest.RedisAddr(t)
	prefix := fmt.Sprintf("demo-test-%x:", rand.Uint64())
	t.Cleanup(func() {
		c := redis.NewClient(&redis.Options{Addr: redisServer})
		defer c.Close()
		keys, err := c.Keys(context.Background(), prefix+"*").Result()
		if err == nil && len(keys) > 0 {
			c.Del(context.Background(), keys...)
		}
	})
	target, err := sinks.Parse("redis://" + redisServer + "/0?prefix=" + prefix)
	require.NoError(t, err)
	return &target
}

// Demos that share a store add up to its totals exactly, through their restarts,
// and none lacks anything of its own.
func TestFleet(t *testing.T) {
	shared := store(t)
	var wg sync.WaitGroup
	results, errs := make([]*Result, 2), make([]error, 2)
	for i := range results {
		dir := t.TempDir()
		wg.Go(func() {
			results[i], errs[i] = Run(t.Context(), Options{
				Addr: "127.0.0.1:0", Clients: 1, For: time.Second, Dir: dir, Interval: 100 * time.Millisecond,
				Sink: shared, Screen: &Screen{W: io.Discard},
			})
		})
	}
	wg.Wait()
	var want counts
	for i, r := range results {
		require.NoError(t, errs[i])
		require.NoError(t, r.Err())
		require.NotNil(t, r.Fleet)
		assert.Equal(t, 1, r.Restarts)
		want = want.plus(r.run)
	}
	f, err := openFleet(t.Context(), *shared)
	require.NoError(t, err)
	defer f.close()
	want.visitors = 0 // not asked for
	assert.Equal(t, want, f.before)
}

// A store that is not there ends the demo before it begins.
func TestFleetIsAbsent(t *testing.T) {
	nowhere, err := sinks.Parse("redis://me:hunter2@127.0.0.1:1/0")
	require.NoError(t, err)
	_, err = Run(t.Context(), Options{Addr: "127.0.0.1:0", Clients: 1, For: time.Second, Dir: t.TempDir(), Sink: &nowhere, Screen: &Screen{W: io.Discard}})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}
