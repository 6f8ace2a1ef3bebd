package prom_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/window"
)

// hiddenOf returns what a scrape says is left out.
func hiddenOf(t testing.TB, g prometheus.Gatherer) []string {
	t.Helper()
	families, err := g.Gather()
	require.NoError(t, err)
	var hidden []string
	for _, f := range families {
		if f.GetName() == "hotcount_prom_hidden" {
			for _, m := range f.GetMetric() {
				hidden = append(hidden, labelsText(m))
			}
		}
	}
	return hidden
}

// Names that collide only for Prometheus hide one of the metrics and never fail
// a scrape. Whatever the order of the engine's series, the name that need not
// change wins.
func TestCollidingNames(t *testing.T) {
	for range 20 {
		e := enginetest.New(t, hotcount.Options{})
		e.Counter("jobs").Add(1)
		e.Counter("jobs_total").Add(2)
		e.Uniques("visitors").AddString("x")
		e.Counter("visitors_low").Add(3)
		busy := e.Counter("busy_total")
		_, err := e.Window(busy, window.Options{Resolution: time.Second, Buckets: 60})
		require.NoError(t, err)
		e.Counter("busy_window").Add(4)

		r := registryOf(t, prom.New(e, prom.Options{UpDown: []string{"visitors_low", "busy_window"}}))
		got := gather(t, r)
		assert.Contains(t, got, `busy_window_seconds{window="1m"}`)
		delete(got, `busy_window_seconds{window="1m"}`)
		assert.Equal(t, map[string]float64{
			"jobs_total":    2,
			"visitors":      1,
			"visitors_low":  3,
			"visitors_high": 1,
			"busy_total":    0,
			"busy_window":   4,
		}, values(got))
		assert.Equal(t, []string{
			`{metric="busy_total",name="busy_window"}`,
			`{metric="jobs",name="jobs_total"}`,
			`{metric="visitors",name="visitors_low"}`,
		}, hiddenOf(t, r))
	}
}

// A name does not change hands when a better owner comes later.
func TestNamesAreKept(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	r := registryOf(t, prom.New(e, prom.Options{}))
	e.Counter("jobs").Add(1)
	assert.Equal(t, map[string]float64{"jobs_total": 1}, values(gather(t, r)))
	assert.Empty(t, hiddenOf(t, r))
	e.Counter("jobs_total").Add(2)
	assert.Equal(t, map[string]float64{"jobs_total": 1}, values(gather(t, r)))
	assert.Equal(t, []string{`{metric="jobs_total",name="jobs_total"}`}, hiddenOf(t, r))
}

// An overflow series has the family's name and is no collision, also when it
// comes later.
func TestOverflowIsNoCollision(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{Limits: hotcount.Limits{FamilySeries: 1}})
	r := registryOf(t, prom.New(e, prom.Options{}))
	e.Uniques("visitors", "site", "a").AddString("x")
	assert.Len(t, gather(t, r), 3)
	e.Uniques("visitors", "site", "b").AddString("x")
	assert.Len(t, gather(t, r), 6)
	assert.Empty(t, hiddenOf(t, r))
}

// Engines share a registry by a label that tells them apart.
func TestTwoEnginesInOneRegistry(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	for name, n := range map[string]int64{"a": 1, "b": 2} {
		e := enginetest.New(t, hotcount.Options{})
		e.Counter("jobs_total", "queue", "mail", "zone", "1").Add(n)
		e.Counter("idle_total").Add(n)
		wrapped := prometheus.WrapRegistererWith(prometheus.Labels{"engine": name}, r)
		require.NoError(t, wrapped.Register(prom.New(e, prom.Options{})))
	}
	for range 2 { // a first scrape that changed labels in place would spoil the second
		assert.Equal(t, map[string]float64{
			`jobs_total{engine="a",queue="mail",zone="1"}`: 1,
			`jobs_total{engine="b",queue="mail",zone="1"}`: 2,
			`idle_total{engine="a"}`:                       1,
			`idle_total{engine="b"}`:                       2,
		}, values(gather(t, r)))
	}
}

// A registry cannot know that it has the collector already. Its scrapes say so,
// and still have every series once.
func TestRegisteredTwice(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	e.Counter("jobs_total").Add(1)
	c := prom.New(e, prom.Options{})
	r := registryOf(t, c, c)
	families, err := r.Gather()
	require.ErrorContains(t, err, "was collected before with the same name and label values")
	assert.Equal(t, map[string]float64{"jobs_total": 1}, values(seriesOf(families)))
}

// Metrics that the program shows by itself keep their place beside an engine's.
func TestBesideNativeMetrics(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	e.Counter("jobs_total").Add(1)
	native := prometheus.NewCounter(prometheus.CounterOpts{Name: "native_total", Help: "Native."})
	clash := prometheus.NewGauge(prometheus.GaugeOpts{Name: "jobs_total", Help: "Native, too."})
	families, err := registryOf(t, native, prom.New(e, prom.Options{})).Gather()
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"jobs_total": 1, "native_total": 0}, values(seriesOf(families)))

	families, err = registryOf(t, clash, native, prom.New(e, prom.Options{})).Gather()
	require.Error(t, err, "two metrics of one name and different types")
	got := seriesOf(families)
	assert.Len(t, got, 2)
	assert.Contains(t, got, "native_total")
	assert.IsType(t, new(dto.Metric), got["jobs_total"])
}
