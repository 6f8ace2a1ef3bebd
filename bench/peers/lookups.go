package peers

import (
	"context"
	"fmt"
	"slices"

	vm "github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"
	gometrics "github.com/rcrowley/go-metrics"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// lookups find a counter by two label values in the way that each library's
// documentation shows.
func lookups() []bench.Impl {
	return []bench.Impl{
		{Name: "prometheus", New: func(l bench.Layout) (bench.Counters, error) {
			opts := prometheus.CounterOpts{Name: "http_requests_total"}
			return promLookup{prometheus.NewCounterVec(opts, []string{"method", "route"}), work.Labels(l.Keys)}, nil
		}},
		{Name: "victoria", New: func(l bench.Layout) (bench.Counters, error) {
			return victoriaLookup{vm.NewSet(), work.Labels(l.Keys)}, nil
		}},
		{Name: "otel", New: func(l bench.Layout) (bench.Counters, error) {
			counter, reader, err := otelCounter()
			return otelLookup{counter, reader, work.Labels(l.Keys)}, err
		}},
		{Name: "gometrics", New: func(l bench.Layout) (bench.Counters, error) {
			return goMetricsLookup{gometrics.NewRegistry(), work.Labels(l.Keys)}, nil
		}},
	}
}

type promLookup struct {
	vec    *prometheus.CounterVec
	labels [][2]string
}

func (p promLookup) Incs(n int) {
	l := p.labels[0]
	for range n {
		p.vec.WithLabelValues(l[0], l[1]).Inc()
	}
}

func (p promLookup) Run(steps []bench.Step) {
	for _, s := range steps {
		l := &p.labels[s.Key()]
		p.vec.WithLabelValues(l[0], l[1]).Inc()
	}
}

func (p promLookup) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 {
		return promValue(p.vec.WithLabelValues(p.labels[key][0], p.labels[key][1]))
	})
}

// victoriaLookup writes the name out for each call, since the library has no
// family of counters.
type victoriaLookup struct {
	set    *vm.Set
	labels [][2]string
}

func (v victoriaLookup) of(l [2]string) *vm.Counter {
	return v.set.GetOrCreateCounter(fmt.Sprintf(`http_requests_total{method=%q,route=%q}`, l[0], l[1]))
}

func (v victoriaLookup) Incs(n int) {
	l := v.labels[0]
	for range n {
		v.of(l).Inc()
	}
}

func (v victoriaLookup) Run(steps []bench.Step) {
	for _, s := range steps {
		v.of(v.labels[s.Key()]).Inc()
	}
}

func (v victoriaLookup) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return int64(v.of(v.labels[key]).Get()) })
}

type otelLookup struct {
	counter metric.Int64Counter
	reader  *sdk.ManualReader
	labels  [][2]string
}

func (o otelLookup) inc(ctx context.Context, l [2]string) {
	o.counter.Add(ctx, 1, metric.WithAttributes(attribute.String("method", l[0]), attribute.String("route", l[1])))
}

func (o otelLookup) Incs(n int) {
	ctx, l := context.Background(), o.labels[0]
	for range n {
		o.inc(ctx, l)
	}
}

func (o otelLookup) Run(steps []bench.Step) {
	ctx := context.Background()
	for _, s := range steps {
		o.inc(ctx, o.labels[s.Key()])
	}
}

func (o otelLookup) Verify(adds []int64) error {
	return verifyOTel(o.reader, adds, func(set attribute.Set) int {
		method, _ := set.Value("method")
		route, _ := set.Value("route")
		return slices.Index(o.labels, [2]string{method.AsString(), route.AsString()})
	})
}

// goMetricsLookup puts the labels into the name, since the library has none.
type goMetricsLookup struct {
	registry gometrics.Registry
	labels   [][2]string
}

func (g goMetricsLookup) of(l [2]string) gometrics.Counter {
	return gometrics.GetOrRegisterCounter("http_requests_total."+l[0]+"."+l[1], g.registry)
}

func (g goMetricsLookup) Incs(n int) {
	l := g.labels[0]
	for range n {
		g.of(l).Inc(1)
	}
}

func (g goMetricsLookup) Run(steps []bench.Step) {
	for _, s := range steps {
		g.of(g.labels[s.Key()]).Inc(1)
	}
}

func (g goMetricsLookup) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return g.of(g.labels[key]).Count() })
}
