package filesink

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// The long form: go test ./snapshot/filesink -run TestEveryOperation -simseeds 200
var simSeeds = flag.Uint64("simseeds", 2, "how many histories TestEveryOperationMayFail goes through")

// A ledger is what a run has told a sink, and what the sink must know.
//
// Properties, for every point at which an operation may fail or the power may
// go:
//  1. Of a writer, exactly one state that was given to Write is restored, and
//     none older than the last that Write has confirmed.
//  2. The totals of earlier writers do not change, whether folded or not.
//  3. After the fault, the directory opens without damage or loss reported.
type ledger struct {
	settled map[string]int64   // sums over earlier writers
	given   []map[string]int64 // states of the running writer since the last confirmed one
}

func (l *ledger) give(state map[string]int64) { l.given = append(l.given, maps.Clone(state)) }
func (l *ledger) confirm()                    { l.given = l.given[len(l.given)-1:] }

// settle checks what was restored after a run and takes it for the truth.
func (l *ledger) settle(t *testing.T, restored []*snapshot.Snapshot) {
	t.Helper()
	got := totals(restored)
	for _, state := range l.given {
		if want := plus(l.settled, state); maps.Equal(want, got) {
			l.settled = got
			l.given = []map[string]int64{{}}
			return
		}
	}
	require.Fail(t, "restored totals are those of no state given", "settled %v\ngiven %v\ngot %v", l.settled, l.given, got)
}

func totals(snaps []*snapshot.Snapshot) map[string]int64 {
	sums := map[string]int64{}
	for _, s := range snaps {
		for c := range s.AllCounters() {
			sums[c.Key.String()] += c.Value
		}
	}
	maps.DeleteFunc(sums, func(_ string, v int64) bool { return v == 0 })
	return sums
}

func plus(a, b map[string]int64) map[string]int64 {
	sum := maps.Clone(a)
	for k, v := range b {
		sum[k] += v
	}
	maps.DeleteFunc(sum, func(_ string, v int64) bool { return v == 0 })
	return sum
}

// A toyEngine counts, evicts idle series and takes snapshots as the contract of
// snapshot.Snapshot says.
type toyEngine struct {
	rng   *rand.Rand
	desc  series.Desc
	s     snapshot.Snapshot
	state map[string]int64 // all that was ever counted
	clock int64
	since map[snapshot.CounterRow]uint64 // per Final row, the first snapshot that holds it
}

func newToyEngine(t *testing.T, rng *rand.Rand) *toyEngine {
	desc, err := series.NewDesc("hits_total", "path")
	require.NoError(t, err)
	return &toyEngine{
		rng:   rng,
		desc:  desc,
		s:     snapshot.Snapshot{Writer: snapshot.NewWriterID()},
		state: map[string]int64{},
		since: map[snapshot.CounterRow]uint64{},
	}
}

const toySeries = 5

// next counts a little, may evict a series, and returns the next snapshot.
func (g *toyEngine) next() *snapshot.Snapshot {
	for range g.rng.IntN(4) {
		g.add(g.desc.Key(fmt.Sprint(g.rng.IntN(toySeries))), 1+g.rng.Int64N(9))
	}
	g.s.Seq++
	if n := len(g.s.Counters); n > 0 && g.rng.IntN(2) == 0 {
		i := g.rng.IntN(n)
		c := g.s.Counters[i]
		g.s.Counters = append(g.s.Counters[:i], g.s.Counters[i+1:]...)
		g.s.Final = append(g.s.Final, c)
		g.since[c] = g.s.Seq
	}
	return &g.s
}

func (g *toyEngine) add(k series.Key, n int64) {
	g.state[k.String()] += n
	for i := range g.s.Counters {
		if g.s.Counters[i].Key == k {
			g.s.Counters[i].Value += n
			return
		}
	}
	g.clock++
	g.s.Counters = append(g.s.Counters, snapshot.CounterRow{Key: k, Created: g.clock, Value: n})
}

// acknowledge lets go of the rows that were Final in snapshot seq. A slow second
// sink is played by doing so only sometimes.
func (g *toyEngine) acknowledge(seq uint64) {
	if g.rng.IntN(3) == 0 {
		return
	}
	var keep []snapshot.CounterRow
	for _, c := range g.s.Final {
		if g.since[c] > seq {
			keep = append(keep, c)
		}
	}
	g.s.Final = keep
}

// run is one life of a process on d: open, fold, count, snapshot. It returns
// when all is done or the power has gone.
func run(t *testing.T, d *simFS, l *ledger, rng *rand.Rand) {
	k, err := open(Options{Keep: 2, Logger: quiet}, d)
	if err != nil {
		require.NotErrorIs(t, err, ErrUnreadable)
		return
	}
	require.Empty(t, k.Damaged())
	l.settle(t, k.Restored())
	g := newToyEngine(t, rng)
	for i := range 8 {
		if i == 3 {
			for _, s := range k.Restored() {
				if w := s.Writer; !w.IsZero() && rng.IntN(3) > 0 {
					_ = k.Fold(w) // a failed fold is checked by what is restored
				}
			}
		}
		s := g.next()
		l.give(g.state)
		if k.Write(t.Context(), s) == nil {
			l.confirm()
			g.acknowledge(s.Seq)
		}
	}
	require.NoError(t, k.Close())
}

// TestEveryOperationMayFail fails each operation of the middle one of five
// lives, in each way, and checks the ledger over all of them.
func TestEveryOperationMayFail(t *testing.T) {
	for _, f := range faults {
		t.Run(string(f), func(t *testing.T) {
			for seed := range *simSeeds {
				for at := 1; ; at++ {
					if !failOnce(t, f, seed, at) {
						break
					}
				}
			}
		})
	}
}

// failOnce reports whether there was an operation at.
func failOnce(t *testing.T, f fault, seed uint64, at int) bool {
	defer func() {
		if t.Failed() {
			t.Logf("seed %d, operation %d", seed, at)
		}
	}()
	d := newSimFS(seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	l := &ledger{settled: map[string]int64{}, given: []map[string]int64{{}}}
	run(t, d, l, rng)
	run(t, d, l, rng)
	before := d.ops
	d.failAt, d.fault = before+at, f
	run(t, d, l, rng)
	reached := d.ops >= d.failAt
	if !d.dead && rng.IntN(2) == 0 {
		d.cutPower()
	}
	d.reboot()
	run(t, d, l, rng)
	run(t, d, l, rng)
	k, err := open(Options{Logger: quiet}, d)
	require.NoError(t, err)
	l.settle(t, k.Restored())
	return reached
}
