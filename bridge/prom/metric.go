package prom

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// A counterMetric is one series of one scrape. Prometheus' own constant metrics
// take six allocations for each; these and what they refer to are cut from
// slabs, and are never changed once sent.
type counterMetric struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	value  float64
	data   dto.Counter
}

func (m *counterMetric) Desc() *prometheus.Desc { return m.desc }

func (m *counterMetric) Write(out *dto.Metric) error {
	out.Label, out.Counter = m.labels, &m.data
	return nil
}

// A gaugeMetric is the same for gauges.
type gaugeMetric struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	value  float64
	data   dto.Gauge
}

func (m *gaugeMetric) Desc() *prometheus.Desc { return m.desc }

func (m *gaugeMetric) Write(out *dto.Metric) error {
	out.Label, out.Gauge = m.labels, &m.data
	return nil
}

// A slab cuts values from larger and larger pieces of memory. It keeps none: a
// piece is freed when the last value of it is.
type slab[T any] struct {
	left []T
	size int
}

const (
	minSlab = 16
	maxSlab = 1024 // makes an allocation cost nothing beside a series
)

// take returns n values. The slice is clipped: who appends to it, as
// prometheus.WrapRegistererWith does to labels, gets a copy.
func (s *slab[T]) take(n int) []T {
	if len(s.left) < n {
		s.size = min(max(2*s.size, minSlab), maxSlab)
		s.left = make([]T, max(n, s.size))
	}
	taken := s.left[:n:n]
	s.left = s.left[n:]
	return taken
}
