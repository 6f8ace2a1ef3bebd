package sinkkit

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// simSource is an engine with few series, which it retires at random.
type simSource struct {
	rng     *rand.Rand
	writer  snapshot.WriterID
	seq     uint64
	clock   int64
	live    map[string]snapshot.CounterRow
	final   []snapshot.CounterRow
	finalAt []uint64 // the first snapshot that has the row
	windows map[series.Key]map[time.Duration][]window.Row
	started int64
	now     int64
}

func newSimSource(rng *rand.Rand) *simSource {
	started := 500 * rng.Int64N(3)
	return &simSource{
		rng:     rng,
		writer:  snapshot.NewWriterID(),
		live:    map[string]snapshot.CounterRow{},
		windows: map[series.Key]map[time.Duration][]window.Row{},
		started: started,
		now:     started,
	}
}

func (so *simSource) clone() *simSource {
	c := *so
	c.live, c.final, c.finalAt = maps.Clone(so.live), slices.Clone(so.final), slices.Clone(so.finalAt)
	c.windows = map[series.Key]map[time.Duration][]window.Row{}
	for k, rows := range so.windows {
		c.windows[k] = map[time.Duration][]window.Row{}
		for resolution, r := range rows {
			c.windows[k][resolution] = slices.Clone(r)
		}
	}
	return &c
}

// count adds to some series, and retires some.
func (so *simSource) count(keys []series.Key, truth map[string]int64) {
	for range so.rng.IntN(4) {
		k := keys[so.rng.IntN(len(keys))]
		c, ok := so.live[k.String()]
		if !ok {
			so.clock++
			c = snapshot.CounterRow{Key: k, Created: so.clock}
		}
		n := so.rng.Int64N(10) - 3
		c.Value += n
		truth[k.String()] += n
		so.live[k.String()] = c
		so.countWindows(k, n, truth)
	}
	if so.rng.IntN(4) == 0 {
		k := keys[so.rng.IntN(len(keys))].String()
		if c, ok := so.live[k]; ok {
			delete(so.live, k)
			so.final, so.finalAt = append(so.final, c), append(so.finalAt, so.seq+1)
		}
	}
}

// countWindows adds to the windows of a series, a little later.
func (so *simSource) countWindows(k series.Key, n int64, truth map[string]int64) {
	so.now += so.rng.Int64N(30)
	if so.windows[k] == nil {
		so.windows[k] = map[time.Duration][]window.Row{}
	}
	for _, resolution := range []time.Duration{20, 500} {
		bucket := so.now - so.now%int64(resolution)
		truth[bucketID(k, resolution, bucket)] += n
		rows := so.windows[k][resolution]
		if len(rows) == 0 || rows[len(rows)-1].Start != bucket {
			rows = append(rows, window.Row{Resolution: resolution, Start: bucket, Width: resolution})
		}
		rows[len(rows)-1].Count += n
		so.windows[k][resolution] = rows
	}
}

func bucketID(k series.Key, resolution time.Duration, start int64) string {
	return k.String() + " " + strconv.FormatInt(int64(resolution), 10) + " " + strconv.FormatInt(start, 10)
}

func (so *simSource) snapshot() *snapshot.Snapshot {
	so.seq++
	s := &snapshot.Snapshot{Writer: so.writer, Seq: so.seq, Started: time.Unix(0, so.started), Final: slices.Clone(so.final)}
	for _, c := range so.live {
		s.Counters = append(s.Counters, c)
	}
	for k, resolutions := range so.windows {
		rows := []window.Row{{Resolution: 20, Start: so.started, Width: 20, Count: 1_000_000, Earlier: true}}
		for _, r := range resolutions {
			rows = append(rows, r...)
		}
		for i := range rows[1:] {
			rows[i+1].Start += so.rng.Int64N(20) // ticks are late
		}
		s.Windows = append(s.Windows, snapshot.WindowRows{Key: k, Rows: rows})
	}
	return s
}

func (so *simSource) acknowledge(seq uint64) {
	for len(so.finalAt) > 0 && so.finalAt[0] <= seq {
		so.final, so.finalAt = so.final[1:], so.finalAt[1:]
	}
}

// simKeys returns the keys of a few series of two families.
func simKeys(t require.TestingT) []series.Key {
	plain, err := series.NewDesc("plain_total")
	require.NoError(t, err)
	labelled, err := series.NewDesc("labelled_total", "l")
	require.NoError(t, err)
	return []series.Key{plain.Key(), labelled.Key("a"), labelled.Key("b"), labelled.Key("c")}
}
