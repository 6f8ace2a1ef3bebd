package pgsink

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// Rows stay as many as series and live writers, however many writers there have
// been, and none of their counts is lost.
func TestTenThousandShortLivedWriters(t *testing.T) {
	p := newPlace(t)
	const nSeries, workers = 5, 8
	writers := 10_000
	if testing.Short() || raceEnabled { // which takes five times as long
		writers /= 5
	}
	keys := make([]series.Key, nSeries)
	for i := range keys {
		keys[i] = key(t, "hits_total", fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := w; n < writers; n += workers {
				k, e := p.sink(Options{Lease: time.Microsecond}), newEngine()
				e.add(keys[n%nSeries], 1)
				e.add(keys[(n+1)%nSeries], 2)
				if !assert.NoError(t, k.Write(t.Context(), e.snapshot())) {
					return
				}
				if n%400 == 0 {
					_, err := k.RollUp(t.Context())
					assert.NoError(t, err)
				}
			}
		})
	}
	wg.Wait()
	p.rollUp(p.sink(Options{}))
	assert.EqualValues(t, nSeries, query[int](p, `SELECT count(*) FROM {schema}.counters`))
	assert.EqualValues(t, writers, query[int](p, `SELECT count(*) FROM {schema}.writers WHERE dead IS NOT NULL`))
	for _, n := range p.totals() {
		assert.EqualValues(t, 3*writers/nSeries, n)
	}
}

// A roll-up and a refresh may run at any time.
func TestRollUpBesideWrite(t *testing.T) {
	p := newPlace(t)
	k, e := p.sink(Options{Lease: time.Microsecond}), newEngine()
	a, visitors := key(t, "hits_total", "a"), key(t, "visitors", "a")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 20 {
			_, err := k.RollUp(t.Context())
			assert.NoError(t, err)
			assert.NoError(t, k.RefreshTotals(t.Context(), 0))
		}
	})
	for n := range 20 {
		e.add(a, 1)
		e.see(visitors, fmt.Sprint(n))
		write(t, k, e.snapshot())
	}
	wg.Wait()
	assert.Equal(t, map[string]int64{a.String(): 20}, p.totals())
	assert.Equal(t, e.uniques[visitors.String()].Estimate(), p.uniques()[visitors.String()].Estimate())
}

func TestTombstonesGoInTheEnd(t *testing.T) {
	p := newPlace(t)
	k, e := p.sink(Options{}), newEngine()
	write(t, k, e.snapshot())
	p.expire()
	require.Equal(t, 1, p.rollUp(k))
	require.EqualValues(t, 1, query[int](p, `SELECT count(*) FROM {schema}.writers`))
	p.exec(`UPDATE {schema}.writers SET dead = dead - $1::interval`, keepTombstones)
	require.Zero(t, p.rollUp(k))
	require.Zero(t, query[int](p, `SELECT count(*) FROM {schema}.writers`))
}

// A writer that was only late goes on under another id.
func TestLateWriter(t *testing.T) {
	p := newPlace(t)
	a := key(t, "hits_total", "a")
	visitors := key(t, "visitors", "a")
	k, e, other := p.sink(Options{}), newEngine(), p.sink(Options{})
	for round := range 5 {
		e.add(a, 10)
		e.see(visitors, fmt.Sprint(round))
		write(t, k, e.snapshot())
		e.add(a, 1) // not flushed when it is taken for dead
		p.expire()
		require.Equal(t, 1, p.rollUp(other))
		require.Equal(t, map[string]int64{a.String(): int64(11*round + 10)}, p.totals())
	}
	write(t, k, e.snapshot())
	assert.Equal(t, map[string]int64{a.String(): 55}, p.totals())
	assert.EqualValues(t, 2, query[int](p, `SELECT count(*) FROM {schema}.counters`), "the base and the live one")
	e.retire(a)
	write(t, k, e.snapshot())
	assert.Equal(t, map[string]int64{a.String(): 55}, p.totals())
	assert.Equal(t, e.uniques[visitors.String()].Estimate(), p.uniques()[visitors.String()].Estimate())
}

// Two engines with the same id and history: the one that comes second goes on
// under another id.
func TestClones(t *testing.T) {
	p := newPlace(t)
	a, b := key(t, "hits_total", "a"), key(t, "hits_total", "b")
	e, k := newEngine(), p.sink(Options{})
	e.add(a, 10)
	write(t, k, e.snapshot())
	twin, twinSink := e.clone(), p.sink(Options{})
	for n := range int64(4) {
		e.add(a, n)
		twin.add(a, 1)
		twin.add(b, 5)
		write(t, twinSink, twin.snapshot())
		write(t, k, e.snapshot())
		assert.Equal(t, e.live[a.String()].Value+twin.live[a.String()].Value-10, p.totals()[a.String()])
	}
	assert.Equal(t, map[string]int64{a.String(): 10 + 6 + 4, b.String(): 20}, p.totals())
	assert.EqualValues(t, 2, query[int](p, `SELECT count(*) FROM {schema}.writers`))
}

// A server that is restored to an older state, as after a fail-over to a replica
// that lags, has the truth again with the next flush.
func TestRestoredServer(t *testing.T) {
	p := newPlace(t)
	old, young := key(t, "hits_total", "old"), key(t, "hits_total", "young")
	final, visitors := key(t, "hits_total", "final"), key(t, "visitors", "a")
	k, e := p.sink(Options{}), newEngine()
	other, otherSink := newEngine(), p.sink(Options{})
	e.add(old, 1)
	e.see(visitors, "before")
	write(t, k, e.snapshot())
	p.dump()

	e.add(final, 7)
	e.retire(final)
	e.add(young, 2)
	e.see(visitors, "after")
	write(t, k, e.snapshot())
	e.s.Final = nil // acknowledged
	write(t, k, e.snapshot())
	p.restore()

	other.add(key(t, "hits_total", "takes the id that another had"), 3)
	write(t, otherSink, other.snapshot())
	e.add(old, 10)
	write(t, k, e.snapshot())
	assert.Equal(t, map[string]int64{
		old.String(): 11, young.String(): 2, final.String(): 7,
		`hits_total{l="takes the id that another had"}`: 3,
	}, p.totals())
	assert.Equal(t, e.uniques[visitors.String()].Estimate(), p.uniques()[visitors.String()].Estimate())
}

// The last snapshot of a run that died is handed on by the next one.
func TestEarlierRuns(t *testing.T) {
	a := key(t, "hits_total", "a")
	for _, test := range []struct {
		name     string
		exported bool // an older snapshot
		expired  bool
		want     int64
		err      error
	}{
		{"never exported", false, false, 3 + 100, nil},
		{"exported in part", true, false, 3 + 100, nil},
		{"exported in part, and added up", true, true, 1 + 100, export.ErrTooLate},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t)
			earlier, next := newEngine(), newEngine()
			earlier.add(a, 1)
			if s := earlier.snapshot(); test.exported {
				write(t, p.sink(Options{}), s)
			}
			earlier.add(a, 2)
			last := earlier.snapshot()
			if test.expired {
				p.expire()
				p.rollUp(p.sink(Options{}))
			}
			k := p.sink(Options{})
			next.add(a, 100)
			write(t, k, next.snapshot())
			for range 2 {
				err := k.Write(t.Context(), last)
				require.ErrorIs(t, err, test.err)
				write(t, k, next.snapshot())
				assert.Equal(t, map[string]int64{a.String(): test.want}, p.totals())
			}
		})
	}
}

// Uniques are the union of all writers, dead or alive, register for register.
func TestUniquesAreUnited(t *testing.T) {
	p := newPlace(t)
	visitors := key(t, "visitors", "a")
	var want hll.Sketch
	for w := range 4 {
		k, e := p.sink(Options{}), newEngine()
		for n := range 3_000 * w {
			element := fmt.Sprint(n * (w + 1))
			e.see(visitors, element)
			want.AddString(element)
		}
		e.see(visitors, fmt.Sprint("only ", w))
		want.AddString(fmt.Sprint("only ", w))
		write(t, k, e.snapshot())
		if w < 3 { // in several steps
			p.expire()
			require.Equal(t, 1, p.rollUp(k))
			assert.EqualValues(t, 1, query[int](p, `SELECT count(*) FROM {schema}.uniques`))
		}
	}
	got := p.uniques()[visitors.String()]
	assert.Equal(t, want.AppendPostgres(nil), got.AppendPostgres(nil))
	assert.Equal(t, want.Estimate(), got.Estimate())

	if hasExtension(t) {
		counted := query[float64](p, `SELECT estimate FROM {schema}.distinct_counts`)
		assert.InEpsilon(t, float64(want.Estimate().Count), counted, 0.05, "as the extension counts")
	}
}

func TestUniquesOfOtherSchemesAndPrecisions(t *testing.T) {
	p := newPlace(t)
	visitors := key(t, "visitors", "a")
	var want []uint64
	for _, o := range []hll.Options{{Precision: 12}, {}, {Hash: hll.Redis}, {Seed: 5}} {
		s, err := hll.New(o)
		require.NoError(t, err)
		for n := range 100 {
			s.AddString(fmt.Sprint(n))
		}
		encoded, err := s.AppendBinary(nil)
		require.NoError(t, err)
		e := newEngine()
		snap := e.snapshot()
		snap.Uniques = []snapshot.UniquesRow{{Key: visitors, Created: 1, Scheme: s.Scheme(), Sketch: encoded}}
		write(t, p.sink(Options{}), snap)
		if o.Precision == 0 {
			want = append(want, s.Estimate().Count)
		}
	}
	check := func() {
		t.Helper()
		got, err := p.reader().Uniques(t.Context(), export.Query{})
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i, u := range got {
			assert.InEpsilon(t, want[i], u.Sketch.Estimate().Count, 0.05)
		}
	}
	check()
	p.expire()
	require.Equal(t, 4, p.rollUp(p.sink(Options{})))
	check()
}

// uniques returns all distinct counts, by the text form of their keys.
func (p *place) uniques() map[string]*hll.Sketch {
	p.t.Helper()
	totals, err := p.reader().Uniques(p.t.Context(), export.Query{Limit: 1_000_000})
	require.NoError(p.t, err)
	m := make(map[string]*hll.Sketch)
	for _, u := range totals {
		m[u.Key.String()] = u.Sketch
	}
	return m
}
