package redissink

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// trips counts a client's round trips.
type trips struct{ n atomic.Int64 }

func (c *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

func (c *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

// many returns a source of n series, of which touch makes every one dirty.
func many(b testing.TB, n int) (c *counting, touch func()) {
	b.Helper()
	d, err := series.NewDesc("http_requests_total", "path")
	require.NoError(b, err)
	c = newCounting()
	for i := range n {
		c.Counters = append(c.Counters, snapshot.CounterRow{Key: d.Key("/items/" + strconv.Itoa(i)), Created: 1})
	}
	return c, func() {
		for i := range c.Counters {
			c.Counters[i].Value += int64(i)
		}
	}
}

// BenchmarkFlush writes dirty series: as this package does; as HINCRBY of the
// differences in pipelines, which counts twice what is sent twice; and row by row.
func BenchmarkFlush(b *testing.B) {
	for _, rows := range []int{1_000, 100_000} {
		for _, impl := range []struct {
			name  string
			write func(context.Context, redis.UniversalClient, string) func(*snapshot.Snapshot) error
		}{
			{"redissink", exactly},
			{"hincrby", increments},
			{"row-by-row", oneByOne},
		} {
			if impl.name == "row-by-row" && rows > 1000 {
				continue // a hundred times the round trips tell nothing new
			}
			b.Run(fmt.Sprintf("rows=%d/impl=%s", rows, impl.name), func(b *testing.B) {
				client, prefix := connect(b)
				var count trips
				client.AddHook(&count)
				c, touch := many(b, rows)
				write := impl.write(b.Context(), client, prefix)
				touch()
				require.NoError(b, write(c.next())) // the keys are there
				count.n.Store(0)
				for b.Loop() {
					touch()
					require.NoError(b, write(c.next()))
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(float64(count.n.Load())/float64(b.N), "trips/op")
			})
		}
	}
}

func exactly(ctx context.Context, client redis.UniversalClient, prefix string) func(*snapshot.Snapshot) error {
	k, err := New(Options{Client: client, Prefix: prefix})
	if err != nil {
		return func(*snapshot.Snapshot) error { return err }
	}
	return func(s *snapshot.Snapshot) error { return k.Write(ctx, s) }
}

// increments sends what was added since the last call, 1000 commands at a time.
func increments(ctx context.Context, client redis.UniversalClient, prefix string) func(*snapshot.Snapshot) error {
	sent := map[string]int64{}
	return func(s *snapshot.Snapshot) error {
		for from := 0; from < len(s.Counters); from += 1000 {
			pipe := client.Pipeline()
			for _, c := range s.Counters[from:min(from+1000, len(s.Counters))] {
				id := c.Key.String()
				pipe.HIncrBy(ctx, prefix+id, "shard", c.Value-sent[id])
				sent[id] = c.Value
			}
			if _, err := pipe.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func oneByOne(ctx context.Context, client redis.UniversalClient, prefix string) func(*snapshot.Snapshot) error {
	return func(s *snapshot.Snapshot) error {
		for _, c := range s.Counters {
			if err := client.HSet(ctx, prefix+c.Key.String(), "shard", c.Value).Err(); err != nil {
				return err
			}
		}
		return nil
	}
}

// BenchmarkTotals reads series that three writers share.
func BenchmarkTotals(b *testing.B) {
	const rows = 10_000
	client, prefix := connect(b)
	k := open(b, Options{Client: client, Prefix: prefix})
	for range 3 {
		c, touch := many(b, rows)
		touch()
		require.NoError(b, k.Write(b.Context(), c.next()))
	}
	for b.Loop() {
		page, err := k.Totals(b.Context(), export.Query{Limit: rows})
		require.NoError(b, err)
		require.Len(b, page, rows)
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "series/s")
}

// BenchmarkAddBeside adds while the engine exports every 10 ms: to nothing, to
// Redis, to a server that answers nobody and to one that is not there.
func BenchmarkAddBeside(b *testing.B) {
	for _, sink := range []string{"none", "redis", "silent", "absent"} {
		b.Run("sink="+sink, func(b *testing.B) {
			o := hotcount.Options{Interval: 10 * time.Millisecond}
			if sink != "none" {
				client, prefix := connect(b)
				if sink != "redis" {
					client = nobody(b, sink == "silent")
				}
				o.Sinks = []export.Sink{open(b, Options{Client: client, Prefix: prefix})}
			}
			e, err := hotcount.New(o)
			require.NoError(b, err)
			c := e.Counter("hits_total")
			for b.Loop() {
				c.Inc()
			}
			b.StopTimer()
			closing, cancel := context.WithTimeout(b.Context(), time.Second)
			defer cancel()
			e.Close(closing) // where nobody listens it cannot end well
		})
	}
}

// nobody returns a client of a server that takes connections and says nothing, or
// that takes none.
func nobody(t testing.TB, silent bool) redis.UniversalClient {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if silent {
		t.Cleanup(func() { l.Close() })
	} else {
		require.NoError(t, l.Close())
	}
	c := redis.NewClient(&redis.Options{Addr: l.Addr().String(), ReadTimeout: time.Second, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { c.Close() })
	return c
}

// An outage of any length leaves nothing behind but the newest state.
func TestMemoryIsFlatDuringAnOutage(t *testing.T) {
	const flushes = 200 // half an hour at the default interval
	k := open(t, Options{Client: nobody(t, false)})
	k.checked.Store(true) // it worked once
	c, touch := many(t, 2000)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	fail := func() {
		touch()
		require.Error(t, k.Write(t.Context(), c.next()))
	}
	fail()
	before := heap()
	for range flushes {
		fail()
	}
	assert.Less(t, heap()-before, int64(256<<10))
}
