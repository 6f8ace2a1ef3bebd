package peers

import (
	"fmt"
	"io"

	vm "github.com/VictoriaMetrics/metrics"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// snapshots are registries that are read out in the cheapest way they offer:
// VictoriaMetrics as text to nowhere, Prometheus as the messages of a scrape.
func snapshots() []bench.Impl {
	return []bench.Impl{
		{Name: "victoria", New: newReadSet},
		{Name: "prometheus", New: newReadRegistry},
	}
}

type readSet struct {
	handles []*vm.Counter
	*work.Repeater
}

func newReadSet(l bench.Layout) (bench.Counters, error) {
	set := vm.NewSet()
	all := fill(work.Series, func(i int) *vm.Counter {
		return set.NewCounter(fmt.Sprintf("views_total{post=%q}", work.SeriesName(i)))
	})
	return &readSet{all[:l.Keys], work.Repeat(func() { set.WritePrometheus(io.Discard) })}, nil
}

func (r *readSet) Incs(n int) {
	c := r.handles[0]
	for range n {
		c.Inc()
	}
}

func (r *readSet) Run(steps []bench.Step) {
	for _, s := range steps {
		r.handles[s.Key()].Inc()
	}
}

func (r *readSet) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return int64(r.handles[key].Get()) })
}

type readRegistry struct {
	proms
	*work.Repeater
}

func newReadRegistry(l bench.Layout) (bench.Counters, error) {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "views_total"}, []string{"post"})
	registry := prometheus.NewRegistry()
	if err := registry.Register(vec); err != nil {
		return nil, err
	}
	all := fill(work.Series, func(i int) prometheus.Counter { return vec.WithLabelValues(work.SeriesName(i)) })
	return &readRegistry{all[:l.Keys], work.Repeat(func() {
		if _, err := registry.Gather(); err != nil {
			panic(err) // no two of the series are equal
		}
	})}, nil
}
