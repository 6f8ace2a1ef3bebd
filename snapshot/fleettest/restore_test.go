package fleettest

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/internal/servertest"
)

// A small fleet counts in this process, and remembers what.
type smallFleet struct {
	t        *testing.T
	engines  []*hotcount.Engine
	want     map[string]int64
	visitors *hll.Sketch
	steps    int
}

func newSmallFleet(t *testing.T, st *store, addr string) *smallFleet {
	t.Helper()
	f := &smallFleet{t: t, want: map[string]int64{}, visitors: new(hll.Sketch)}
	for range 3 {
		to, err := st.open(addr, client{})
		require.NoError(t, err)
		t.Cleanup(to.close)
		e, err := hotcount.New(hotcount.Options{
			Dir: t.TempDir(), Interval: time.Hour, Sinks: []export.Sink{to.Sink}, Logger: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		t.Cleanup(func() { e.Close(t.Context()) })
		f.engines = append(f.engines, e)
	}
	return f
}

// step has each engine count and flush: an old series, a new one, and one that
// retires and comes back each time.
func (f *smallFleet) step() {
	f.t.Helper()
	f.steps++
	for i, e := range f.engines {
		again := e.Counter("fleet_again_total")
		for _, c := range []*hotcount.Counter{e.Counter("fleet_old_total"), e.Counter("fleet_new_total", "step", strconv.Itoa(f.steps)), again} {
			n := int64(f.steps*10 + i)
			c.Add(n)
			f.want[c.Key().String()] += n
		}
		for range 100 {
			visitor := strconv.Itoa(f.steps*150 + len(f.want))
			e.Uniques("fleet_visitors", "site", "a").AddString(visitor)
			f.visitors.AddString(visitor)
		}
		again.Delete()
	}
	f.flush()
}

func (f *smallFleet) flush() {
	f.t.Helper()
	for _, e := range f.engines {
		flushUntilHeld(f.t, e)
	}
}

func (f *smallFleet) got(from export.Reader) map[string]int64 {
	f.t.Helper()
	got := totals(f.t, from)
	maps.DeleteFunc(got, func(key string, _ int64) bool { return !isOurs(key) })
	return got
}

func (f *smallFleet) compare(from export.Reader) {
	f.t.Helper()
	require.Equal(f.t, f.want, f.got(from))
	uniques := visitors(f.t, from)
	require.Len(f.t, uniques, 1)
	assert.Equal(f.t, registers(f.t, f.visitors), registers(f.t, uniques[0].Sketch))
}

// A store that an older backup is restored to has the truth again after the next
// flush of each process.
func TestRestoredBackupIsHealed(t *testing.T) {
	for _, st := range stores {
		t.Run(st.name, func(t *testing.T) {
			server := st.start(t)
			direct := connect(t, st, server)
			f := newSmallFleet(t, st, server.Addr())
			f.step()
			f.step()
			server.Stop()
			server.Keep("old")
			server.Start()
			f.step()
			f.step()
			f.compare(direct)

			server.Kill()
			server.Bring("old")
			server.Start()
			assert.NotEqual(t, f.want, f.got(connected(t, st, server)), "it is older")
			f.flush()
			f.compare(connected(t, st, server))
			f.step()
			f.compare(connected(t, st, server))
		})
	}
}

// connect returns an end of a new store.
func connect(t *testing.T, st *store, server *servertest.Server) *end {
	t.Helper()
	e := connected(t, st, server)
	require.NoError(t, st.create(t.Context(), e))
	return e
}

// connected returns an end with connections of its own.
func connected(t *testing.T, st *store, server *servertest.Server) *end {
	t.Helper()
	e, err := st.open(server.Addr(), client{})
	require.NoError(t, err)
	t.Cleanup(e.close)
	return e
}

// A fail-over goes to a replica that had fallen behind, and is read-only for a
// while. Then the next flush brings the truth.
func TestFailOverToAnOlderReplica(t *testing.T) {
	for _, test := range []struct {
		store    string
		replica  func(*testing.T, *servertest.Server) *servertest.Server // as the server is now
		promote  func(*testing.T, *end)
		readOnly error
	}{
		{"redis", redisReplica, func(t *testing.T, e *end) {
			require.NoError(t, e.redis.ReplicaOf(t.Context(), "NO", "ONE").Err())
		}, export.ErrReadOnly},
		{"postgres", func(_ *testing.T, s *servertest.Server) *servertest.Server { return s.Standby(false) }, func(t *testing.T, e *end) {
			_, err := e.pool.Exec(t.Context(), `SELECT pg_promote()`)
			require.NoError(t, err)
		}, export.ErrReadOnly},
	} {
		t.Run(test.store, func(t *testing.T) {
			st := storeNamed(test.store)
			primary := st.start(t)
			direct := connect(t, st, primary)
			proxy, err := chaos.Listen(primary.Addr(), 1)
			require.NoError(t, err)
			t.Cleanup(func() { proxy.Close() })
			f := newSmallFleet(t, st, proxy.Addr())
			f.step()
			f.step()
			replica := test.replica(t, primary)
			f.step()
			f.step()
			f.compare(direct)

			primary.Kill()
			proxy.Redirect(replica.Addr())
			proxy.CutAll()
			for err = nil; !errors.Is(err, test.readOnly); { // at first, connections break
				within, cancel := context.WithTimeout(t.Context(), flushWithin)
				err = f.engines[0].Flush(within)
				cancel()
				require.Error(t, err, "it is read-only")
			}
			test.promote(t, connected(t, st, replica))
			f.flush()
			f.compare(connected(t, st, replica))
			f.step()
			f.compare(connected(t, st, replica))
		})
	}
}

// redisReplica starts a replica that is then cut off.
func redisReplica(t *testing.T, primary *servertest.Server) *servertest.Server {
	t.Helper()
	replica := servertest.Redis(t)
	c := redis.NewClient(&redis.Options{Addr: replica.Addr()})
	t.Cleanup(func() { c.Close() })
	follow := func(port int) {
		require.NoError(t, c.ReplicaOf(t.Context(), "127.0.0.1", strconv.Itoa(port)).Err())
	}
	follow(primary.Port())
	require.Eventually(t, func() bool {
		role, err := c.Do(t.Context(), "ROLE").Slice()
		return err == nil && len(role) > 3 && role[3] == "connected"
	}, endWithin, 10*time.Millisecond)
	follow(servertest.FreePort(t))
	return replica
}
