package pgsink

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// key returns the key of a series with one label.
func key(t testing.TB, name, value string) series.Key {
	t.Helper()
	d, err := series.NewDesc(name, "l")
	require.NoError(t, err)
	return d.Key(value)
}

// An engine counts as hotcount's does, in the simplest way.
type engine struct {
	s       snapshot.Snapshot
	clock   int64
	live    map[string]snapshot.CounterRow
	uniques map[string]*hll.Sketch
	keys    map[string]series.Key
}

func newEngine() *engine {
	return &engine{
		s:       snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: time.Unix(1_000_000, 0)},
		live:    make(map[string]snapshot.CounterRow),
		uniques: make(map[string]*hll.Sketch),
		keys:    make(map[string]series.Key),
	}
}

func (e *engine) clone() *engine {
	c := *e
	c.s.Final = slices.Clone(e.s.Final)
	c.live, c.keys = maps.Clone(e.live), maps.Clone(e.keys)
	c.uniques = make(map[string]*hll.Sketch)
	for name, u := range e.uniques {
		c.uniques[name] = u.Clone()
	}
	return &c
}

func (e *engine) add(k series.Key, n int64) {
	c, ok := e.live[k.String()]
	if !ok {
		e.clock++
		c = snapshot.CounterRow{Key: k, Created: e.clock}
	}
	c.Value += n
	e.live[k.String()] = c
}

// retire makes a series final, as one that is idle.
func (e *engine) retire(k series.Key) {
	if c, ok := e.live[k.String()]; ok {
		delete(e.live, k.String())
		e.s.Final = append(e.s.Final, c)
	}
}

func (e *engine) see(k series.Key, element string) {
	u, ok := e.uniques[k.String()]
	if !ok {
		u = new(hll.Sketch)
		e.uniques[k.String()], e.keys[k.String()] = u, k
	}
	u.AddString(element)
}

func (e *engine) snapshot() *snapshot.Snapshot {
	e.s.Seq++
	s := e.s
	s.Final = slices.Clone(e.s.Final)
	for _, c := range e.live {
		s.Counters = append(s.Counters, c)
	}
	for name, u := range e.uniques {
		encoded, _ := u.AppendBinary(nil)
		s.Uniques = append(s.Uniques, snapshot.UniquesRow{Key: e.keys[name], Created: 1, Scheme: u.Scheme(), Sketch: encoded})
	}
	return &s
}
