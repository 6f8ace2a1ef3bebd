package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

// A scrape sends the metrics of the View in its scratch.
type scrape struct {
	*scratch
	ch    chan<- prometheus.Metric
	names *names
	known map[familyID]*family

	counterMetrics slab[counterMetric]
	gaugeMetrics   slab[gaugeMetric]
	pairs          slab[dto.LabelPair]
	labels         slab[*dto.LabelPair]
	strings        slab[string]

	created map[int64]*timestamppb.Timestamp // many series begin in one second
}

// family returns how series like this one are shown.
func (s *scrape) family(k series.Key, r role) *family {
	id := familyID{k.Desc(), r}
	f := s.known[id]
	if f == nil {
		s.known = s.names.learn(&s.view)
		f = s.known[id]
	}
	return f
}

func (s *scrape) counters() {
	for _, r := range s.rows {
		c := &s.view.Counters[r.at]
		k := c.Key()
		s.count(k, c.Run, c.Created.UnixNano())
		if c.Window != nil {
			s.ring(k, c.Window)
		}
	}
}

// count sends a counter, or a gauge if it may fall.
func (s *scrape) count(k series.Key, n, created int64) {
	f := s.family(k, counter)
	switch {
	case f.value == nil:
		return
	case f.upDown:
		s.gauge(f.value, s.labelsOf(f, k, ""), float64(n))
		return
	}
	m := &s.counterMetrics.take(1)[0]
	m.desc, m.labels, m.value = f.value, s.labelsOf(f, k, ""), float64(n)
	m.data.Value, m.data.CreatedTimestamp = &m.value, s.timestamp(created)
	s.ch <- m
}

func (s *scrape) gauge(d *prometheus.Desc, labels []*dto.LabelPair, value float64) {
	if d == nil {
		return
	}
	m := &s.gaugeMetrics.take(1)[0]
	m.desc, m.labels, m.value = d, labels, value
	m.data.Value = &m.value
	s.ch <- m
}

func (s *scrape) ring(k series.Key, w *window.Ring) {
	f := s.family(k, ring)
	for _, r := range w.Rungs() {
		s.span(f, k, r, w.Last(r.Reach()))
	}
}

func (s *scrape) span(f *family, k series.Key, r window.Rung, span window.Span) {
	labels := s.labelsOf(f, k, r.Label())
	s.gauge(f.value, labels, float64(span.Count))
	s.gauge(f.seconds, labels, span.Covered.Seconds())
}

func (s *scrape) estimate(f *family, labels []*dto.LabelPair, e hll.Estimate) {
	s.gauge(f.value, labels, float64(e.Count))
	s.gauge(f.low, labels, float64(e.Low))
	s.gauge(f.high, labels, float64(e.High))
}

func (s *scrape) uniques() {
	for _, u := range s.view.Uniques {
		k := u.Key()
		f := s.family(k, uniques)
		s.estimate(f, s.labelsOf(f, k, ""), u.Estimate())
	}
}

func (s *scrape) events() {
	for _, e := range s.view.Events {
		r := e.Rung()
		s.span(s.family(e.Key, events), e.Key, r, e.Last(r.Reach()))
	}
}

func (s *scrape) uniquesWindows() {
	for _, u := range s.view.UniquesWindows {
		f := s.family(u.Key, uniquesWindow)
		r := u.Rung()
		span := u.Last(r.Reach())
		labels := s.labelsOf(f, u.Key, r.Label())
		s.estimate(f, labels, span.Estimate)
		s.gauge(f.seconds, labels, span.Covered.Seconds())
	}
}

func (s *scrape) health() {
	for _, c := range s.view.Health {
		s.count(c.Key, c.Value, c.Created)
	}
	for _, g := range s.view.Gauges {
		f := s.family(g.Key, counter)
		s.gauge(f.value, s.labelsOf(f, g.Key, ""), g.Value)
	}
}

// hidden tells which metrics are not shown.
func (s *scrape) hidden() {
	for _, h := range *s.names.hidden.Load() {
		s.ch <- prometheus.MustNewConstMetric(hiddenDesc, prometheus.GaugeValue, 1, h.metric, h.name)
	}
}

var hiddenDesc = prometheus.NewDesc(hiddenName, healthHelp[hiddenName], []string{"metric", "name"}, nil)

// labelsOf returns the labels of a series, with that of a window if the family
// has it.
func (s *scrape) labelsOf(f *family, k series.Key, window string) []*dto.LabelPair {
	n := len(f.labels)
	if n == 0 {
		return nil
	}
	values := s.strings.take(n)
	values[n-1] = window // unless the series has as many values
	rest := k.Packed()
	for i := 0; rest != ""; i++ {
		var v string
		v, rest, _ = series.CutValue(rest)
		values[i] = series.ToValidUTF8(v)
	}
	pairs, labels := s.pairs.take(n), s.labels.take(n)
	for i, from := range f.values {
		pairs[i].Name, pairs[i].Value = f.labels[i], &values[from]
		labels[i] = &pairs[i]
	}
	return labels
}

// timestamp returns a created timestamp.
func (s *scrape) timestamp(nanos int64) *timestamppb.Timestamp {
	t := s.created[nanos]
	if t == nil {
		t = timestamppb.New(time.Unix(0, nanos))
		if s.created == nil {
			s.created = make(map[int64]*timestamppb.Timestamp)
		}
		s.created[nanos] = t
	}
	return t
}
