package peers

import (
	"context"
	"strconv"

	vm "github.com/VictoriaMetrics/metrics"
	"github.com/cockroachdb/crlib/crsync"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/puzpuzpuz/xsync/v4"
	gometrics "github.com/rcrowley/go-metrics"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// counters are held by handles, which is the cheapest that each offers.
func counters() []bench.Impl {
	impls := []bench.Impl{
		{Name: "xsync", New: func(l bench.Layout) (bench.Counters, error) {
			return xsyncs(fill(l.Keys, func(int) *xsync.Counter { return xsync.NewCounter() })), nil
		}},
		{Name: "crsync", New: func(l bench.Layout) (bench.Counters, error) {
			return crsyncs(fill(l.Keys, func(int) crsync.Counter { return crsync.MakeCounter() })), nil
		}},
		{Name: "victoria", New: func(l bench.Layout) (bench.Counters, error) {
			return victorias(work.Cells[vm.Counter](l.Keys)), nil
		}},
		{Name: "prometheus", New: newProms},
		{Name: "otel", New: newOTel, Unreadable: true},
		{Name: "gometrics", New: func(l bench.Layout) (bench.Counters, error) {
			return goMetrics(fill(l.Keys, func(int) gometrics.Counter { return gometrics.NewCounter() })), nil
		}},
	}
	return append(impls, standardCounters()...)
}

func fill[T any](n int, of func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = of(i)
	}
	return all
}

type xsyncs []*xsync.Counter

func (x xsyncs) Incs(n int) {
	c := x[0]
	for range n {
		c.Inc()
	}
}

func (x xsyncs) Run(steps []bench.Step) {
	for _, s := range steps {
		c := x[s.Key()]
		if s.Read() {
			c.Value()
		} else {
			c.Inc()
		}
	}
}

func (x xsyncs) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return x[key].Value() })
}

type crsyncs []crsync.Counter

func (x crsyncs) Incs(n int) {
	c := x[0]
	for range n {
		c.Add(1)
	}
}

func (x crsyncs) Run(steps []bench.Step) {
	for _, s := range steps {
		c := &x[s.Key()]
		if s.Read() {
			c.Get()
		} else {
			c.Add(1)
		}
	}
}

func (x crsyncs) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return x[key].Get() })
}

type victorias []vm.Counter

func (v victorias) Incs(n int) {
	c := &v[0]
	for range n {
		c.Inc()
	}
}

func (v victorias) Run(steps []bench.Step) {
	for _, s := range steps {
		c := &v[s.Key()]
		if s.Read() {
			c.Get()
		} else {
			c.Inc()
		}
	}
}

func (v victorias) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return int64(v[key].Get()) })
}

type proms []prometheus.Counter

// newProms returns a counter by itself, or the members of a family.
func newProms(l bench.Layout) (bench.Counters, error) {
	if l.Keys == 1 {
		return proms{prometheus.NewCounter(prometheus.CounterOpts{Name: "hits_total"})}, nil
	}
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hits_total"}, []string{"key"})
	return proms(fill(l.Keys, func(i int) prometheus.Counter { return vec.WithLabelValues(strconv.Itoa(i)) })), nil
}

func (p proms) Incs(n int) {
	c := p[0]
	for range n {
		c.Inc()
	}
}

func (p proms) Run(steps []bench.Step) {
	for _, s := range steps {
		c := p[s.Key()]
		if s.Read() {
			promValue(c)
		} else {
			c.Inc()
		}
	}
}

func (p proms) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return promValue(p[key]) })
}

// promValue reads a counter in the way that the client offers.
func promValue(c prometheus.Counter) int64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		return -1 // no counter of ours holds that
	}
	return int64(m.GetCounter().GetValue())
}

// otel is an instrument of OpenTelemetry's SDK, with a set of attributes for
// each key that is made beforehand.
type otel struct {
	counter metric.Int64Counter
	reader  *sdk.ManualReader
	with    [][]metric.AddOption
}

func newOTel(l bench.Layout) (bench.Counters, error) {
	counter, reader, err := otelCounter()
	if err != nil {
		return nil, err
	}
	o := &otel{counter, reader, make([][]metric.AddOption, l.Keys)}
	for i := range o.with {
		o.with[i] = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(attribute.Int("key", i)))}
	}
	return o, nil
}

func otelCounter() (metric.Int64Counter, *sdk.ManualReader, error) {
	reader := sdk.NewManualReader()
	meter := sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("bench")
	counter, err := meter.Int64Counter("hits")
	return counter, reader, err
}

func (o *otel) Incs(n int) {
	ctx := context.Background()
	with := o.with[0]
	for range n {
		o.counter.Add(ctx, 1, with...)
	}
}

func (o *otel) Run(steps []bench.Step) {
	ctx := context.Background()
	for _, s := range steps {
		o.counter.Add(ctx, 1, o.with[s.Key()]...)
	}
}

func (o *otel) Verify(adds []int64) error {
	return verifyOTel(o.reader, adds, func(set attribute.Set) int {
		key, _ := set.Value("key")
		return int(key.AsInt64())
	})
}

// verifyOTel compares what a reader collects, where keyOf tells whose it is.
func verifyOTel(r *sdk.ManualReader, adds []int64, keyOf func(attribute.Set) int) error {
	var all metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &all); err != nil {
		return err
	}
	counts := make([]int64, len(adds))
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[int64]); ok {
				for _, point := range sum.DataPoints {
					counts[keyOf(point.Attributes)] += point.Value
				}
			}
		}
	}
	return bench.Compare(adds, func(key int) int64 { return counts[key] })
}

type goMetrics []gometrics.Counter

func (g goMetrics) Incs(n int) {
	c := g[0]
	for range n {
		c.Inc(1)
	}
}

func (g goMetrics) Run(steps []bench.Step) {
	for _, s := range steps {
		c := g[s.Key()]
		if s.Read() {
			c.Count()
		} else {
			c.Inc(1)
		}
	}
}

func (g goMetrics) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return g[key].Count() })
}
