package web

import (
	"math"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// The rows of the document, in encoding/json's terms. See the package comment.

type identity struct {
	Key    string            `json:"key"`
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

type counterRow struct {
	identity
	Total   int64            `json:"total,string"`
	Run     int64            `json:"run,string"`
	Created time.Time        `json:"created,omitzero"`
	Window  map[string]count `json:"window,omitempty"`
}

type uniquesRow struct {
	identity
	estimate
}

type eventsRow struct {
	identity
	Late   int64            `json:"late,string"`
	Future int64            `json:"future,string"`
	Window map[string]count `json:"window"`
}

type uniquesWindowRow struct {
	identity
	Window map[string]distinct `json:"window"`
}

type gaugeRow struct {
	identity
	Value *float64 `json:"value"` // null if it is not finite, which JSON cannot say
}

type healthRow struct {
	identity
	Total int64 `json:"total,string"`
}

// overRungs returns what a window holds for each of its rungs, by their labels.
func overRungs[T any](rungs []window.Rung, last func(time.Duration) T) map[string]T {
	m := make(map[string]T, len(rungs))
	for _, r := range rungs {
		m[r.Label()] = last(r.Reach())
	}
	return m
}

type count struct {
	Count int64 `json:"count,string"`
	covered
	PerSecond float64 `json:"per_second"`
}

type distinct struct {
	estimate
	covered
}

type covered struct {
	Covered float64 `json:"covered_seconds"`
	Gap     float64 `json:"gap_seconds,omitempty"`
}

type estimate struct {
	Count uint64 `json:"count,string"`
	Low   uint64 `json:"low,string"`
	High  uint64 `json:"high,string"`
}

func countOf(s window.Span) count {
	return count{s.Count, covered{s.Covered.Seconds(), s.Gap.Seconds()}, s.PerSecond()}
}

func distinctOf(s window.UniquesSpan) distinct {
	return distinct{estimateOf(s.Estimate), covered{s.Covered.Seconds(), s.Gap.Seconds()}}
}

func estimateOf(e hll.Estimate) estimate { return estimate{e.Count, e.Low, e.High} }

// The lists of the document, in its order.
const (
	countersList       = "counters"
	uniquesList        = "uniques"
	eventsList         = "events"
	uniquesWindowsList = "uniques_windows"
	gaugesList         = "gauges"
	healthList         = "health"
)

// list returns the list that the item is in.
func (it item) list() string {
	switch what := it.what.(type) {
	case *hotcount.Uniques:
		return uniquesList
	case hotcount.EventsView:
		return eventsList
	case hotcount.UniquesWindowView:
		return uniquesWindowsList
	case snapshot.CounterRow:
		return healthList
	case snapshot.GaugeRow:
		if hotcount.IsHealth(what.Key) {
			return healthList
		}
		return gaugesList
	}
	return countersList
}

// row returns the item's row. It reads windows and sketches as they are now.
func (it item) row() any {
	switch what := it.what.(type) {
	case hotcount.CounterView:
		r := counterRow{identity: it.identity(what.Counter.Key()), Total: what.Value(), Run: what.Run, Created: what.Created}
		if what.Window != nil {
			r.Window = overRungs(what.Window.Rungs(), func(d time.Duration) count { return countOf(what.Window.Last(d)) })
		}
		return r
	case leftover:
		return counterRow{identity: it.identity(what.key), Total: what.total}
	case *hotcount.Uniques:
		return uniquesRow{it.identity(what.Key()), estimateOf(what.Estimate())}
	case hotcount.EventsView:
		st, rungs := what.Stats(), []window.Rung{what.Rung()}
		return eventsRow{it.identity(what.Key), st.Late, st.Future,
			overRungs(rungs, func(d time.Duration) count { return countOf(what.Last(d)) })}
	case hotcount.UniquesWindowView:
		rungs := []window.Rung{what.Rung()}
		return uniquesWindowRow{it.identity(what.Key),
			overRungs(rungs, func(d time.Duration) distinct { return distinctOf(what.Last(d)) })}
	case snapshot.CounterRow:
		return healthRow{it.identity(what.Key), what.Value}
	case snapshot.GaugeRow:
		return gaugeRow{it.identity(what.Key), finite(what.Value)}
	}
	panic("hotcount/web: a page holds what is no series") // cannot happen
}

func (it item) identity(k series.Key) identity {
	labels := make(map[string]string)
	for name, value := range k.Labels() {
		labels[name] = series.ToValidUTF8(value)
	}
	return identity{it.key, k.Name(), labels}
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

type exportsRow struct {
	Seq   uint64    `json:"seq,string"`
	Taken time.Time `json:"taken,omitzero"`
	Sinks []sinkRow `json:"sinks"`
}

type sinkRow struct {
	Name     string    `json:"name"`
	Acked    uint64    `json:"acked,string"`
	AckedAt  time.Time `json:"acked_at,omitzero"`
	Writing  time.Time `json:"writing_since,omitzero"`
	Writes   uint64    `json:"writes,string"`
	Failures uint64    `json:"failures,string"`
	Panics   uint64    `json:"panics,string"`
	Err      string    `json:"error,omitempty"`
	Blocked  bool      `json:"blocked"`
	Stopped  bool      `json:"stopped"`
}

func exportsOf(st export.Stats) exportsRow {
	row := exportsRow{Seq: st.Seq, Taken: st.Taken, Sinks: []sinkRow{}}
	for _, s := range st.Sinks {
		sink := sinkRow{s.Name, s.Acked, s.AckedAt, s.Writing, s.Writes, s.Failures, s.Panics, "", s.Blocked, s.Stopped}
		if s.Err != nil {
			sink.Err = safetext.WithoutSecrets(s.Err.Error())
		}
		row.Sinks = append(row.Sinks, sink)
	}
	return row
}
