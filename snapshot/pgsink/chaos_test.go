package pgsink

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/snapshot"
)

// through returns a pool of connections through a new proxy.
func (p *place) through(seed uint64, change func(*pgxpool.Config)) (*pgxpool.Pool, *chaos.Proxy) {
	p.t.Helper()
	c := p.pool.Config().ConnConfig
	proxy, err := chaos.Listen(fmt.Sprintf("%s:%d", c.Host, c.Port), seed)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { assert.NoError(p.t, proxy.Close()) })
	at, err := netip.ParseAddrPort(proxy.Addr())
	require.NoError(p.t, err)
	return p.connect(func(c *pgxpool.Config) {
		c.ConnConfig.Host, c.ConnConfig.Port = at.Addr().String(), at.Port()
		c.MaxConns = 2
		change(c)
	}), proxy
}

// onCommit calls a function before each COMMIT is sent.
type onCommit func()

func (f onCommit) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if q.SQL == "commit" {
		f()
	}
	return ctx
}

func (onCommit) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// The transaction was committed and its answer lost: nothing is counted twice.
func TestCommittedButUnanswered(t *testing.T) {
	p := newPlace(t)
	var fault func()
	pool, proxy := p.through(1, func(c *pgxpool.Config) { c.ConnConfig.Tracer = onCommit(func() { fault() }) })
	hits, visitors := key(t, "hits_total", "a"), key(t, "visitors", "a")
	k, e := p.sink(Options{Pool: pool}), newEngine()
	for round := range int64(3) {
		e.add(hits, 10)
		e.see(visitors, fmt.Sprint(round))
		s := e.snapshot()
		fault = func() { proxy.Set(chaos.Faults{Mute: 1}) }
		wants(t, k.Write(t.Context(), s), export.ErrUnavailable)
		require.Equal(t, map[string]int64{hits.String(): 10 * (round + 1)}, p.totals(), "it has been committed")
		before := query[time.Time](p, `SELECT max(updated) FROM {schema}.counters`)

		proxy.Set(chaos.Faults{})
		fault = func() {}
		write(t, k, s)
		assert.Equal(t, before, query[time.Time](p, `SELECT max(updated) FROM {schema}.counters`), "nothing is sent again")
		e.retire(hits) // the next row of the series carries this one's value
	}
	assert.Equal(t, map[string]int64{hits.String(): 30}, p.totals())
	assert.EqualValues(t, 1, query[int](p, `SELECT count(*) FROM {schema}.writers`))
}

// The server rolled back, as it never got the COMMIT.
func TestNotCommitted(t *testing.T) {
	p := newPlace(t)
	var fault func()
	pool, proxy := p.through(2, func(c *pgxpool.Config) { c.ConnConfig.Tracer = onCommit(func() { fault() }) })
	hits := key(t, "hits_total", "a")
	k, e := p.sink(Options{Pool: pool}), newEngine()
	e.add(hits, 10)
	s := e.snapshot()
	fault = func() { proxy.Set(chaos.Faults{Cut: 1}) }
	wants(t, k.Write(t.Context(), s), export.ErrUnavailable)
	assert.Empty(t, p.totals())
	proxy.Set(chaos.Faults{})
	fault = func() {}
	write(t, k, s)
	assert.Equal(t, map[string]int64{hits.String(): 10}, p.totals())
}

// A process is an engine with its sink, and what its directory has of earlier
// runs.
type process struct {
	p     *place
	rng   *rand.Rand
	pool  *pgxpool.Pool
	k     *Sink
	e     *engine
	prior []*snapshot.Snapshot
	dies  bool // else it is late at times: after both, see export.ErrTooLate
	truth map[string]int64
	seen  []string

	exports, failures int
}

const visitorsSeries = "visitors"

func (r *process) count(t testing.TB) {
	for range r.rng.IntN(20) {
		k := key(t, "hits_total", fmt.Sprint(r.rng.IntN(30)))
		n := r.rng.Int64N(100) - 20
		r.e.add(k, n)
		r.truth[k.String()] += n
		element := fmt.Sprint(r.rng.IntN(5000))
		r.e.see(key(t, visitorsSeries, "a"), element)
		r.seen = append(r.seen, element)
	}
	r.e.retire(key(t, "hits_total", fmt.Sprint(r.rng.IntN(30))))
}

// export hands on what earlier runs left, and the newest snapshot.
func (r *process) export(ctx context.Context) (*snapshot.Snapshot, error) {
	s := r.e.snapshot()
	if err := r.k.Write(ctx, s); err != nil {
		return s, err
	}
	r.e.s.Final = nil // acknowledged
	for len(r.prior) > 0 {
		if err := r.k.Write(ctx, r.prior[0]); err != nil {
			return s, err
		}
		r.prior = r.prior[1:]
	}
	return s, nil
}

// step counts, exports, and perhaps dies, or is taken for dead. It returns why the
// export failed.
func (r *process) step(t testing.TB) error {
	r.count(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s, err := r.export(ctx)
	if r.exports++; err != nil {
		r.failures++
	}
	switch now := r.rng.IntN(8) == 0; {
	case now && r.dies: // and is started again
		if err != nil {
			r.prior = append(r.prior, s)
		}
		r.e, r.k = newEngine(), r.p.sink(Options{Pool: r.pool})
	case now && err == nil: // its lease runs out
		_, err = r.p.pool.Exec(ctx, r.k.q.text(`UPDATE {schema}.writers SET expires = '-infinity' WHERE writer = $1`),
			[16]byte(r.k.sources[r.e.s.Writer].Writer()))
		if err == nil {
			_, _ = r.k.RollUp(ctx) // a failure is what this is about
		}
	}
	return err
}

var chaosSteps = flag.Int("chaos", 25, "how often each process exports between two crashes of the server in TestTruthUnderChaos")

// Conservation: whatever networks, servers and processes do, in the end each
// total is what the processes had counted, and each union what they had seen.
func TestTruthUnderChaos(t *testing.T) {
	p, server := privatePlace(t)
	faults := chaos.Faults{Cut: 60, Mute: 30, Late: 60, Slow: 4, Delay: 10 * time.Millisecond}
	var processes []*process
	var proxies []*chaos.Proxy
	for i := range uint64(8) {
		pool, proxy := p.through(i, func(*pgxpool.Config) {})
		proxy.Set(faults)
		proxies = append(proxies, proxy)
		processes = append(processes, &process{
			p: p, rng: rand.New(rand.NewPCG(8, i)), pool: pool, dies: i%2 == 0,
			k: p.sink(Options{Pool: pool}), e: newEngine(), truth: map[string]int64{},
		})
	}
	var down sync.RWMutex
	for range 2 {
		var wg sync.WaitGroup
		for _, r := range processes {
			wg.Go(func() {
				for range *chaosSteps {
					if r.step(t) != nil {
						untilUp(&down)
					}
				}
			})
		}
		down.Lock()
		server.Kill()
		server.Start()
		down.Unlock()
		wg.Wait()
	}

	truth, union := map[string]int64{}, new(hll.Sketch)
	for i, r := range processes {
		t.Logf("%d of %d exports failed", r.failures, r.exports)
		assert.Positive(t, r.failures)
		assert.Less(t, r.failures, r.exports)
		proxies[i].CutAll()
		proxies[i].Set(chaos.Faults{})
		for tries := 1; ; tries++ { // connections that broke are still in the pool
			if _, err := r.export(t.Context()); err == nil {
				break
			} else if tries == 20 {
				require.NoError(t, err)
			}
		}
		for k, n := range r.truth {
			truth[k] += n
		}
		for _, element := range r.seen {
			union.AddString(element)
		}
	}
	p.pool.Reset() // its connections are to the server that crashed
	assert.Equal(t, truth, p.totals())
	assert.Equal(t, union.AppendPostgres(nil), p.uniques()[visitorsSeries+`{l="a"}`].AppendPostgres(nil))
}

// untilUp waits while the server is down.
func untilUp(down *sync.RWMutex) {
	down.RLock()
	defer down.RUnlock()
}
