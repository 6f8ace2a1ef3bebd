package pgsink

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// A windowed engine has one window, at one resolution, of which it reports the
// last few buckets.
type windowedEngine struct {
	s     snapshot.Snapshot
	key   series.Key
	width time.Duration
	now   int64
	rows  []window.Row
}

func newWindowed(key series.Key, now int64) *windowedEngine {
	return &windowedEngine{
		s:     snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: time.Unix(0, now)},
		key:   key,
		width: time.Second,
		now:   now,
	}
}

// add counts n, d later.
func (e *windowedEngine) add(d time.Duration, n int64) {
	e.now += int64(d)
	start := max(e.now/int64(e.width)*int64(e.width), e.s.Started.UnixNano())
	if len(e.rows) == 0 || e.rows[len(e.rows)-1].Start != start {
		e.rows = append(e.rows, window.Row{Resolution: e.width, Start: start})
	}
	last := &e.rows[len(e.rows)-1]
	last.Count += n
	last.Width = time.Duration(e.now - start + 1)
}

// snapshot reports the rows as they are labelled at this moment.
func (e *windowedEngine) snapshot(rng *rand.Rand) *snapshot.Snapshot {
	e.s.Seq++
	s := e.s
	rows := []window.Row{{Resolution: e.width, Start: e.s.Started.UnixNano() - 1, Width: 1, Count: 1_000_000, Earlier: true}}
	for _, r := range e.rows {
		r.Start += rng.Int64N(int64(e.width / 8)) // a late sampler, and drift
		rows = append(rows, r)
	}
	s.Windows = []snapshot.WindowRows{{Key: e.key, Rows: rows}}
	return &s
}

// Conservation: the buckets of live, late and dead writers add up to what was
// counted in that second, after flushes that break off too.
func TestBucketsOfAllWriters(t *testing.T) {
	p := newPlace(t)
	hits := key(t, "hits_total", "a")
	const begin = 1_700_000_000 * int64(time.Second)
	rng := rand.New(rand.NewPCG(4, 4))
	truth := map[int64]int64{}
	sinks := []*Sink{p.sink(Options{KeepBuckets: 100 * 365 * 24 * time.Hour}), p.sink(Options{}), p.sink(Options{})}
	engines := []*windowedEngine{newWindowed(hits, begin), newWindowed(hits, begin), newWindowed(hits, begin)}
	for step := range 60 {
		for i, e := range engines {
			n := rng.Int64N(5) + 1
			e.add(time.Duration(rng.IntN(900))*time.Millisecond, n)
			truth[e.now/int64(time.Second)] += n
			if rng.IntN(2) == 0 {
				write(t, sinks[i], e.snapshot(rng))
			}
		}
		switch {
		case step%20 == 10:
			p.dump()
		case step%20 == 13:
			p.restore()
		case step%20 == 19:
			for i, e := range engines { // all is held before it is added up
				write(t, sinks[i], e.snapshot(rng))
			}
			p.expire()
			require.Equal(t, 3, p.rollUp(sinks[0]))
		}
	}
	for i, e := range engines {
		write(t, sinks[i], e.snapshot(rng))
	}
	got, err := p.reader().Window(t.Context(), hits, time.Second, time.Unix(0, begin), time.Unix(0, begin).Add(time.Hour))
	require.NoError(t, err)
	sums := map[int64]int64{}
	for _, b := range got {
		sums[b.Start.Unix()] = b.Count
	}
	assert.Equal(t, truth, sums)
	assert.IsIncreasing(t, starts(got))

	none, err := p.reader().Window(t.Context(), hits, time.Minute, time.Unix(0, begin), time.Unix(0, begin).Add(time.Hour))
	require.NoError(t, err)
	assert.Empty(t, none)
}

func starts(buckets []export.BucketTotal) (starts []int64) {
	for _, b := range buckets {
		starts = append(starts, b.Start.UnixNano())
	}
	return starts
}

func TestBucketsAreDropped(t *testing.T) {
	p := newPlace(t)
	hits := key(t, "hits_total", "a")
	k := p.sink(Options{KeepBuckets: time.Hour})
	now := time.Now().UnixNano()
	rng := rand.New(rand.NewPCG(5, 5))
	for _, age := range []time.Duration{2 * time.Hour, time.Minute} {
		e := newWindowed(hits, now-int64(age))
		e.add(0, 1)
		write(t, p.sink(Options{}), e.snapshot(rng))
	}
	p.rollUp(k)
	assert.EqualValues(t, 1, query[int](p, `SELECT count(*) FROM {schema}.buckets`))
}

// Whoever has many buckets may partition them.
func TestBucketsInPartitions(t *testing.T) {
	p := newPlace(t)
	hits := key(t, "hits_total", "a")
	now := time.Now()
	p.exec(`CREATE TABLE {schema}.buckets_soon PARTITION OF {schema}.buckets FOR VALUES FROM ('` +
		now.Add(-time.Hour).Format(time.RFC3339) + `') TO ('` + now.Add(time.Hour).Format(time.RFC3339) + `')`)
	e := newWindowed(hits, now.UnixNano())
	e.add(0, 1)
	write(t, p.sink(Options{}), e.snapshot(rand.New(rand.NewPCG(6, 6))))
	assert.EqualValues(t, 1, query[int](p, `SELECT count(*) FROM {schema}.buckets_soon`))
	assert.Zero(t, query[int](p, `SELECT count(*) FROM {schema}.buckets_default`))
}
