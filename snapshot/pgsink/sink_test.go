package pgsink

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// oddKeys are of series whose names are hard to store.
func oddKeys(t testing.TB) (keys []series.Key) {
	plain, err := series.NewDesc("plain_total")
	require.NoError(t, err)
	for _, value := range []string{
		"", "a", "b", `q"\` + "\n", "\x00", "\xff\xfe", "é", "'; DROP TABLE x; --", "{}:%s$1",
		strings.Repeat("x", 1024), strings.Repeat("x", 1025), strings.Repeat("x", 9000) + "y", strings.Repeat("x", 9000) + "z",
	} {
		keys = append(keys, key(t, "odd_total", value))
	}
	return append(keys, plain.Key())
}

func TestTotalsAreThoseOfAllWriters(t *testing.T) {
	p := newPlace(t)
	keys, truth := oddKeys(t), map[string]int64{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		e, k := newEngine(), p.sink(Options{})
		for range 5 {
			for range 20 {
				key, n := keys[rng.IntN(len(keys))], rng.Int64N(100)-20
				e.add(key, n)
				truth[key.String()] += n
			}
			write(t, k, e.snapshot())
			e.retire(keys[rng.IntN(len(keys))])
		}
	}
	assert.Equal(t, truth, p.totals())
	assert.EqualValues(t, len(truth), query[int](p, `SELECT count(*) FROM {schema}.totals`))
}

func TestSumsWrapAround(t *testing.T) {
	p := newPlace(t)
	hits := key(t, "hits_total", "a")
	k, e := p.sink(Options{}), newEngine()
	e.add(hits, math.MaxInt64)
	write(t, k, e.snapshot())
	e.retire(hits)
	e.add(hits, math.MaxInt64)
	write(t, k, e.snapshot())
	down := newEngine()
	down.add(hits, -5)
	write(t, p.sink(Options{}), down.snapshot())
	assert.Equal(t, map[string]int64{hits.String(): -7}, p.totals())
	p.expire()
	require.Equal(t, 2, p.rollUp(k))
	assert.Equal(t, map[string]int64{hits.String(): -7}, p.totals())
}

// Idempotence: snapshots twice, or late, change nothing.
func TestOldSnapshotsChangeNothing(t *testing.T) {
	p := newPlace(t)
	a := key(t, "hits_total", "a")
	e := newEngine()
	e.add(a, 1)
	older := e.snapshot()
	e.add(a, 1)
	newer := e.snapshot()
	k := p.sink(Options{})
	for _, s := range []*snapshot.Snapshot{newer, newer, older, newer} {
		write(t, k, s)
		write(t, p.sink(Options{}), s) // of a new process
		assert.Equal(t, map[string]int64{a.String(): 2}, p.totals())
	}
}

// Rows twice, late and in any order make the same state.
func TestRowsInAnyOrder(t *testing.T) {
	p := newPlace(t)
	a := key(t, "hits_total", "a")
	k := p.sink(Options{})
	type row struct {
		seq            uint64
		created, value int64
	}
	// Each Created has a last value, whose row comes before the next Created:
	// a Mirror sends them in this order, and may send any of them again.
	history := []row{{1, 1, 5}, {2, 1, 7}, {3, 2, 1}, {4, 2, 10}, {5, 9, 100}}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		writer := snapshot.NewWriterID()
		put := func(r row) {
			err := pgx.BeginTxFunc(t.Context(), p.pool, readCommitted, func(tx pgx.Tx) error {
				rows := []snapshot.CounterRow{{Key: a, Created: r.created, Value: r.value}}
				ids, err := k.intern(t.Context(), tx, &idCache{tried: map[series.Key]int64{}}, []series.Key{a})
				require.NoError(t, err)
				put := put{q: k.q, writer: writer, seq: r.seq}
				put.counters(rows, ids)
				return tx.SendBatch(t.Context(), &put.batch).Close()
			})
			require.NoError(t, err)
		}
		for i, r := range history {
			put(r)
			for range rng.IntN(4) {
				put(history[rng.IntN(i+1)])
			}
		}
		total := query[int64](p, `SELECT (carry + value)::bigint FROM {schema}.counters WHERE writer = $1`, [16]byte(writer))
		assert.EqualValues(t, 7+10+100, total)
	}
}

func TestSeveralLivesOfASeriesInOneFlush(t *testing.T) {
	p := newPlace(t)
	a, b := key(t, "hits_total", "a"), key(t, "hits_total", "b")
	e := newEngine()
	for n := range int64(5) {
		e.add(a, n)
		e.retire(a)
	}
	e.add(b, 1)
	k := p.sink(Options{})
	s := e.snapshot()
	write(t, k, s)
	write(t, k, s)
	assert.Equal(t, map[string]int64{a.String(): 10, b.String(): 1}, p.totals())
}

// No deadlock: a hundred writers flush the same series, old and new, and others
// roll up and refresh meanwhile.
func TestManyWritersAtOnce(t *testing.T) {
	p, _ := privatePlace(t)
	pool := p.connect(func(c *pgxpool.Config) { c.MaxConns = 110 })
	const writers, flushes, nSeries = 100, 3, 60
	keys := make([]series.Key, nSeries)
	for i := range keys {
		keys[i] = key(t, "hits_total", fmt.Sprint(rand.Int64()))
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(w)))
			e, k := newEngine(), p.sink(Options{Pool: pool})
			mine := slices.Clone(keys)
			rng.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			for f := range flushes {
				for _, key := range mine[:nSeries*(f+1)/flushes] {
					e.add(key, 1)
				}
				assert.NoError(t, k.Write(t.Context(), e.snapshot()))
				if w%10 == 0 {
					_, err := k.RollUp(t.Context())
					assert.NoError(t, err)
					assert.NoError(t, k.RefreshTotals(t.Context(), 0))
				}
			}
		})
	}
	wg.Wait()
	var sum int64
	for _, n := range p.totals() {
		sum += n
	}
	assert.EqualValues(t, writers*(nSeries/3+nSeries*2/3+nSeries), sum)
}

// Poolers that know no prepared statements need another mode.
func TestQueryModes(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec} {
		t.Run(mode.String(), func(t *testing.T) {
			p := *newPlace(t)
			p.pool = p.connect(func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			k, e := p.sink(Options{}), newEngine()
			e.add(key(t, "hits_total", "a"), 1)
			e.see(key(t, "visitors", "a"), "somebody")
			write(t, k, e.snapshot())
			require.NoError(t, k.RefreshTotals(t.Context(), 0))
			p.expire()
			require.Equal(t, 1, p.rollUp(k))
			assert.Len(t, p.totals(), 1)
			assert.Len(t, p.uniques(), 1)
		})
	}
}

// A turnConn counts how often an answer is waited for.
type turnConn struct {
	net.Conn
	wrote bool
	turns *int
}

func (c *turnConn) Write(b []byte) (int, error) {
	c.wrote = true
	return c.Conn.Write(b)
}

func (c *turnConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.wrote {
		c.wrote = false
		*c.turns++
	}
	return n, err
}

// A flush takes the same few round trips, however many rows it has.
func TestRoundTrips(t *testing.T) {
	p := newPlace(t)
	turns := 0
	k := p.sink(Options{Pool: p.connect(func(c *pgxpool.Config) {
		c.MaxConns = 1
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &turnConn{Conn: conn, turns: &turns}, err
		}
	})})
	flush := func(e *engine) int {
		before := turns
		write(t, k, e.snapshot())
		return turns - before
	}
	e := newEngine()
	e.add(key(t, "hits_total", "a"), 1)
	flush(e) // prepares statements
	for n := range 10 {
		e.add(key(t, "hits_total", "a"), 1)
		require.Equal(t, 4, flush(e), "flush %d: begin, standing, rows, commit", n)
	}
	for n := range 3000 {
		e.add(key(t, "hits_total", fmt.Sprint(n)), 1)
	}
	assert.Equal(t, 7, flush(e), "new series: ids, insert, ids")
	for n := range 3000 {
		e.add(key(t, "hits_total", fmt.Sprint(n)), 1)
	}
	assert.Equal(t, 4, flush(e))
}
