package otel

import (
	"maps"
	"math"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

// windowKey is the attribute of the series of windows. A label has no dot, so
// it collides with none.
const windowKey = attribute.Key("hotcount.window")

// A kind is the type of an instrument.
type kind uint8

const (
	sum    kind = iota // monotonic
	upDown             // a sum that is not
	gauge
	floatGauge
)

// An instrument is one metric by its name.
type instrument struct {
	name, description, unit string
	kind                    kind
}

// A point is the value of one series of an instrument.
type point struct {
	attributes attribute.Set
	n          int64
	f          float64   // of a floatGauge
	start      time.Time // of a sum
}

// namer is what Options say.
type namer struct {
	descriptions, units map[string]string
	upDown              map[string]bool
}

func newNamer(o Options) namer {
	n := namer{make(map[string]string), maps.Clone(o.Units), make(map[string]bool)}
	for name, text := range o.Descriptions {
		n.descriptions[name] = strings.ToValidUTF8(text, "\ufffd")
	}
	for _, name := range o.UpDown {
		n.upDown[name] = true
	}
	return n
}

// A walk visits what a View shows, and yields every point of every instrument.
// Points of one instrument come with the same pointer.
type walk struct {
	namer  *namer
	yield  func(*instrument, point)
	known  map[string]*instrument
	values map[series.Desc]*instrument // of counters, by family

	pairs []attribute.KeyValue // kept for its memory
}

func newWalk(n *namer, yield func(*instrument, point)) *walk {
	return &walk{namer: n, yield: yield, known: make(map[string]*instrument), values: make(map[series.Desc]*instrument)}
}

func (w *walk) view(v *hotcount.View) {
	for i := range v.Counters {
		c := &v.Counters[i]
		k := c.Key()
		w.count(k, c.Run, c.Created)
		if c.Window != nil {
			w.ring(k, c.Window)
		}
	}
	for _, u := range v.Uniques {
		k := u.Key()
		w.estimate(k.Name(), w.attributes(k, ""), u.Estimate())
	}
	for _, e := range v.Events {
		r := e.Rung()
		w.span(e.Key.Name(), w.attributes(e.Key, r.Label()), e.Last(r.Reach()))
	}
	for _, u := range v.UniquesWindows {
		r := u.Rung()
		span, at := u.Last(r.Reach()), w.attributes(u.Key, r.Label())
		w.estimate(u.Key.Name(), at, span.Estimate)
		w.seconds(u.Key.Name(), at, span.Covered)
	}
	for _, c := range v.Health {
		w.count(c.Key, c.Value, time.Unix(0, c.Created))
	}
	for _, g := range v.Gauges {
		name := g.Key.Name()
		w.yield(w.instrument(name, "", floatGauge), point{attributes: w.attributes(g.Key, ""), f: g.Value})
	}
}

func (w *walk) count(k series.Key, n int64, start time.Time) {
	m := w.values[k.Desc()]
	if m == nil {
		of := sum
		if w.namer.falls(k.Name()) {
			of = upDown
		}
		m = w.instrument(k.Name(), "", of)
		w.values[k.Desc()] = m
	}
	w.yield(m, point{attributes: w.attributes(k, ""), n: n, start: start})
}

// falls reports whether a counter may fall. Of the engine's own, all that do
// not end in _total may.
func (n *namer) falls(name string) bool {
	return n.upDown[name] || strings.HasPrefix(name, "hotcount_") && !strings.HasSuffix(name, "_total")
}

func (w *walk) ring(k series.Key, ring *window.Ring) {
	for _, r := range ring.Rungs() {
		w.span(k.Name()+".window", w.attributes(k, r.Label()), ring.Last(r.Reach()))
	}
}

func (w *walk) span(name string, at attribute.Set, s window.Span) {
	w.yield(w.instrument(name, "", gauge), point{attributes: at, n: s.Count})
	w.seconds(name, at, s.Covered)
}

func (w *walk) seconds(name string, at attribute.Set, d time.Duration) {
	w.yield(w.instrument(name, ".seconds", floatGauge), point{attributes: at, f: d.Seconds()})
}

func (w *walk) estimate(name string, at attribute.Set, e hll.Estimate) {
	w.yield(w.instrument(name, "", gauge), point{attributes: at, n: toInt64(e.Count)})
	w.yield(w.instrument(name, ".low", gauge), point{attributes: at, n: toInt64(e.Low)})
	w.yield(w.instrument(name, ".high", gauge), point{attributes: at, n: toInt64(e.High)})
}

func toInt64(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// instrument returns the instrument of this name and suffix.
func (w *walk) instrument(name, suffix string, of kind) *instrument {
	m := w.known[name+suffix]
	if m == nil {
		m = &instrument{name: name + suffix, kind: of}
		w.describe(m, name, suffix)
		w.known[m.name] = m
	}
	return m
}

func (w *walk) describe(m *instrument, name, suffix string) {
	switch suffix {
	case "":
		counted := strings.TrimSuffix(name, ".window")
		m.description, m.unit = w.namer.descriptions[counted], w.namer.units[counted]
		if strings.HasPrefix(name, "hotcount_") && strings.HasSuffix(name, "_seconds") {
			m.unit = "s"
		}
	case ".seconds":
		m.description, m.unit = "How much time "+name+" is about.", "s"
	case ".low":
		m.description, m.unit = "Two standard errors below "+name+".", w.namer.units[name]
	case ".high":
		m.description, m.unit = "Two standard errors above "+name+".", w.namer.units[name]
	}
}

// attributes returns the labels of a series, with that of a window if there is
// one.
func (w *walk) attributes(k series.Key, span string) attribute.Set {
	w.pairs = w.pairs[:0]
	for name, value := range k.Labels() {
		w.pairs = append(w.pairs, attribute.String(name, series.ToValidUTF8(value)))
	}
	if span != "" {
		w.pairs = append(w.pairs, windowKey.String(span))
	}
	return attribute.NewSet(w.pairs...)
}
