package otel

import (
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A collection gathers what one call of Produce returns. Nothing of it is used
// again: a reader may keep what it got, and even write to it.
type collection struct {
	taken   time.Time
	streams map[*instrument]*stream
}

// A stream is the points of an instrument, of the one type or the other.
type stream struct {
	ints   []metricdata.DataPoint[int64]
	floats []metricdata.DataPoint[float64]
}

func (c *collection) add(m *instrument, p point) {
	s := c.streams[m]
	if s == nil {
		s = new(stream)
		c.streams[m] = s
	}
	if m.kind == floatGauge {
		s.floats = append(s.floats, metricdata.DataPoint[float64]{Attributes: p.attributes, Time: c.taken, Value: p.f})
		return
	}
	s.ints = append(s.ints, metricdata.DataPoint[int64]{
		Attributes: p.attributes, StartTime: p.start, Time: c.taken, Value: p.n,
	})
}

// metrics returns what was gathered, sorted by name.
func (c *collection) metrics() []metricdata.Metrics {
	all := make([]metricdata.Metrics, 0, len(c.streams))
	for m, s := range c.streams {
		all = append(all, metricdata.Metrics{
			Name: m.name, Description: m.description, Unit: m.unit, Data: m.data(s),
		})
	}
	slices.SortFunc(all, func(a, b metricdata.Metrics) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (m *instrument) data(s *stream) metricdata.Aggregation {
	switch m.kind {
	case gauge:
		return metricdata.Gauge[int64]{DataPoints: s.ints}
	case floatGauge:
		return metricdata.Gauge[float64]{DataPoints: s.floats}
	default:
		return metricdata.Sum[int64]{
			DataPoints: s.ints, Temporality: metricdata.CumulativeTemporality, IsMonotonic: m.kind == sum,
		}
	}
}
