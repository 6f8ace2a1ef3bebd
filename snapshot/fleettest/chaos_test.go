package fleettest

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/snapshot"
)

var chaosFor = flag.Duration("chaos", 6*time.Second, "how long TestKillUnderChaos does harm to each store")

const (
	processes = 8
	harmEvery = 250 * time.Millisecond
	stallFor  = 300 * time.Millisecond
)

// The truth under chaos: see the package documentation.
func TestKillUnderChaos(t *testing.T) {
	for _, st := range stores {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			underChaos(t, st)
		})
	}
}

func underChaos(t *testing.T, st *store) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	server := st.start(t)
	direct, err := st.open(server.Addr(), client{})
	require.NoError(t, err)
	t.Cleanup(direct.close)
	require.NoError(t, st.create(t.Context(), direct))
	proxy, err := chaos.Listen(server.Addr(), seed)
	require.NoError(t, err)
	t.Cleanup(func() { proxy.Close() })
	proxy.Set(st.faults)

	var fleet []*process
	for i := range processes {
		p := &process{t: t, known: map[snapshot.WriterID]bool{}, truth: map[string]int64{}}
		p.child = child{stream: stream{process: i}, store: st, addr: proxy.Addr(), dir: filepath.Join(t.TempDir(), strconv.Itoa(i))}
		require.NoError(t, os.Mkdir(p.dir, 0o700))
		p.start()
		t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() }) // does nothing after an end
		fleet = append(fleet, p)
	}
	h := &harm{rng: rand.New(rand.NewPCG(seed, 1)), store: st, server: server, proxy: proxy, fleet: fleet}
	h.do(t, *chaosFor)
	tally := proxy.Tally()

	// All die once more, and end in peace.
	for _, p := range fleet {
		h.kill(p)
	}
	proxy.Set(chaos.Faults{})
	for _, p := range fleet {
		p.stdin.Close()
	}
	for _, p := range fleet {
		p.end()
	}
	h.compare(t, direct, "all is exported")
	require.NoError(t, st.rollUp(t.Context(), direct))
	h.compare(t, direct, "dead writers are added up")
	h.report(t, tally)
}

// A harm is what does harm to a fleet, and what it has done.
type harm struct {
	rng    *rand.Rand
	store  *store
	server *servertest.Server
	proxy  *chaos.Proxy
	fleet  []*process

	kills, stops, crashes, cuts, stalls int
}

// do goes on for d, at least until each kind of harm has been done.
func (h *harm) do(t *testing.T, d time.Duration) {
	kinds := []func(){
		h.killOne, h.cut, h.killOne, h.crash, h.killOne, h.killOne,
		h.stall, h.killOne, h.cut, h.killOne, h.stop, h.killOne,
	}
	end := time.After(d)
	tick := time.NewTicker(harmEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-tick.C:
			kinds[i%len(kinds)]()
		case <-t.Context().Done():
			return
		}
		select {
		case <-end:
			end = closed
		default:
			continue
		}
		if i >= len(kinds)-1 {
			return
		}
	}
}

// closed is always ready.
var closed = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

func (h *harm) killOne() {
	p := h.fleet[h.rng.IntN(len(h.fleet))]
	h.kill(p)
}

// kill kills a process and starts it again.
func (h *harm) kill(p *process) {
	p.kill()
	p.start()
	h.kills++
}

func (h *harm) cut() {
	h.proxy.CutAll()
	h.cuts++
}

func (h *harm) crash() {
	h.server.Kill()
	h.server.Start()
	h.crashes++
}

func (h *harm) stop() {
	h.server.Stop()
	h.server.Start()
	h.stops++
}

// stall has each request wait.
func (h *harm) stall() {
	h.proxy.Set(chaos.Faults{Slow: 1, Delay: 2 * stallFor})
	<-time.After(stallFor)
	h.proxy.Set(h.store.faults)
	h.stalls++
}

// compare compares what the store holds to the truth.
func (h *harm) compare(t *testing.T, direct *end, when string) {
	t.Helper()
	truth, inDirs := map[string]int64{}, map[string]int64{}
	sketches := map[hll.Scheme]*hll.Sketch{}
	for _, p := range h.fleet {
		for key, n := range p.truth {
			truth[key] += n
		}
		for _, s := range p.load() {
			for row := range s.AllCounters() {
				if key := row.Key.String(); isOurs(key) {
					inDirs[key] += row.Value
				}
			}
		}
		elements := p.direct()
		if union := sketches[elements.Scheme()]; union == nil {
			sketches[elements.Scheme()] = elements
		} else {
			require.NoError(t, union.Merge(elements))
		}
	}
	sameTotals(t, truth, inDirs, "the directories, when "+when)
	got := totals(t, direct)
	maps.DeleteFunc(got, func(key string, _ int64) bool { return !isOurs(key) })
	sameTotals(t, truth, got, "the store, when "+when)

	uniques := visitors(t, direct)
	require.Len(t, uniques, len(sketches))
	for _, u := range uniques {
		assert.Equal(t, registers(t, sketches[u.Scheme]), registers(t, u.Sketch), "registers of %v, when %s", u.Scheme, when)
	}
}

// sameTotals compares totals, and names some that differ.
func sameTotals(t *testing.T, truth, got map[string]int64, where string) {
	t.Helper()
	const most = 5
	wrong := 0
	for key := range maps.Keys(truth) {
		if got[key] == truth[key] {
			continue
		}
		if wrong++; wrong <= most {
			t.Errorf("%s is %d in %s, want %d", key, got[key], where, truth[key])
		}
	}
	require.Zero(t, wrong, "wrong totals in %s, of %d", where, len(truth))
	require.Len(t, got, len(truth), where)
}

func (h *harm) report(t *testing.T, tally chaos.Tally) {
	t.Helper()
	var sum journal
	runs := 0
	for _, p := range h.fleet {
		runs += p.run
		sum.add(p.sum)
	}
	assert.Positive(t, sum.Writes)
	assert.Positive(t, tally.Cuts)
	t.Logf("%d processes in %d runs, %d of them killed; the server killed %d times, stopped %d times, stalled %d times",
		len(h.fleet), runs, h.kills, h.crashes, h.stops, h.stalls)
	t.Logf("%d connections, %d cut, %d requests unanswered, %d late, %d slow, %d twice",
		tally.Conns, tally.Cuts, tally.Mutes, tally.Lates, tally.Slows, tally.Twices)
	t.Logf("%d adds to %d series; %d flushes acknowledged, %d not; the store took %d snapshots of %d rows, and failed %d times",
		sum.Begun*batchSize, seriesCount, sum.Flushes, sum.Failed, sum.Writes, sum.Rows, sum.Refused)
}

// registers returns a form of a sketch in which equal ones are equal.
func registers(t testing.TB, s *hll.Sketch) []byte {
	t.Helper()
	data, err := s.AppendRedis(nil)
	require.NoError(t, err)
	return data
}

// answered reads until a store that may just have started again answers: the first
// use of an older connection shows that it is gone.
func answered[T any](ctx context.Context, t testing.TB, read func(context.Context, export.Query) ([]T, error), q export.Query) []T {
	t.Helper()
	for {
		page, err := read(ctx, q)
		if err == nil {
			return page
		}
		require.NoError(t, ctx.Err(), "%v", err)
		require.NotErrorIs(t, err, export.ErrTooLate)
	}
}

// visitors returns the fleet's distinct counts.
func visitors(t testing.TB, r export.Reader) []export.UniquesTotal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endWithin)
	defer cancel()
	return answered(ctx, t, r.Uniques, export.Query{Prefix: "fleet_visitors{"})
}

// totals returns all totals by key, read page by page.
func totals(t testing.TB, r export.Reader) map[string]int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endWithin)
	defer cancel()
	all := map[string]int64{}
	for q := (export.Query{}); ; {
		page := answered(ctx, t, r.Totals, q)
		for _, total := range page {
			q.After = total.Key
			all[total.Key.String()] = total.Value
		}
		if len(page) == 0 {
			return all
		}
	}
}
