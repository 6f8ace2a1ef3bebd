package prom_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// registryOf returns a registry that checks all that client_golang can check of
// an unchecked collector.
func registryOf(t testing.TB, cs ...prometheus.Collector) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	for _, c := range cs {
		require.NoError(t, r.Register(c))
	}
	return r
}

// gather returns the series that a scrape of g shows, without the engine's own,
// in the notation of hotcount.
func gather(t testing.TB, g prometheus.Gatherer) map[string]*dto.Metric {
	t.Helper()
	families, err := g.Gather()
	require.NoError(t, err)
	return seriesOf(families)
}

func seriesOf(families []*dto.MetricFamily) map[string]*dto.Metric {
	series := make(map[string]*dto.Metric)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "hotcount_") {
			continue
		}
		for _, m := range f.GetMetric() {
			series[f.GetName()+labelsText(m)] = m
		}
	}
	return series
}

func labelsText(m *dto.Metric) string {
	var parts []string
	for _, l := range m.GetLabel() {
		parts = append(parts, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	if parts == nil {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func value(m *dto.Metric) float64 {
	if m.GetCounter() != nil {
		return m.GetCounter().GetValue()
	}
	return m.GetGauge().GetValue()
}

func values(series map[string]*dto.Metric) map[string]float64 {
	v := make(map[string]float64)
	for name, m := range series {
		v[name] = value(m)
	}
	return v
}

// fillKinds gives an engine a series of each kind, and a counter that falls though
// its name ends in _total.
func fillKinds(t testing.TB, e *hotcount.Engine) {
	t.Helper()
	enginetest.FillKinds(t, e)
	e.Counter("jumps_total").Add(-4)
}

var kindOptions = prom.Options{
	Help:   map[string]string{"jobs_total": "Jobs done.\nAll \xff of them."},
	UpDown: []string{"connections", "jumps_total"},
}

func TestScrapeShowsEveryKind(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	fillKinds(t, e)
	got := values(gather(t, registryOf(t, prom.New(e, kindOptions))))
	for name := range got {
		if strings.Contains(name, "_seconds") {
			assert.GreaterOrEqual(t, got[name], 0.0, name)
			delete(got, name)
		}
	}
	assert.Equal(t, map[string]float64{
		`jobs_total{code="200",queue="mail"}`:               7,
		`jobs_window{code="200",queue="mail",window="1m"}`:  7,
		`jobs_window{code="200",queue="mail",window="1h"}`:  7,
		`jobs_window{code="200",queue="mail",window="24h"}`: 7,
		`clicks_total`:             2,
		`connections`:              -3,
		`jumps`:                    -4,
		`visitors{site="a"}`:       1,
		`visitors_low{site="a"}`:   1,
		`visitors_high{site="a"}`:  1,
		`orders{window="1h"}`:      5,
		`recent{window="1h"}`:      1,
		`recent_low{window="1h"}`:  1,
		`recent_high{window="1h"}`: 1,
	}, got)
}

// Prometheus' linter finds nothing, in the engine's own series neither.
func TestLint(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{Dir: t.TempDir(), Limits: hotcount.Limits{FamilySeries: 1}})
	fillKinds(t, e)
	e.Counter("jobs_total", "queue", "over", "code", "500").Inc()
	err := e.Adjust(hotcount.Drift{Key: e.Counter("clicks").Key(), Counted: 2, Truth: 5})
	require.NoError(t, err)
	var s snapshot.Snapshot
	e.Snapshot(&s)
	e.Counter("clicks").Add(100)
	e.Snapshot(&s)

	r := registryOf(t, prom.New(e, kindOptions))
	problems, err := testutil.GatherAndLint(r)
	require.NoError(t, err)
	assert.Empty(t, problems)

	families, err := r.Gather()
	require.NoError(t, err)
	var own int
	for _, f := range families {
		assert.NotEmpty(t, f.GetHelp(), f.GetName())
		if strings.HasPrefix(f.GetName(), "hotcount_") {
			own++
			assert.NotContains(t, f.GetHelp(), "this run", "%s has no text of its own", f.GetName())
		}
	}
	assert.Equal(t, 24, own, "package hotcount lists these")
}

func TestHelp(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	fillKinds(t, e)
	handler := promhttp.HandlerFor(registryOf(t, prom.New(e, kindOptions)), promhttp.HandlerOpts{})
	page := httptest.NewRecorder()
	handler.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	assert.Contains(t, page.Body.String(), `# HELP jobs_total Jobs done.\nAll `+"\ufffd of them.\n")
}

// The overflow series of a full family has other labels than the rest, and is
// part of every sum.
func TestOverflow(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{Limits: hotcount.Limits{FamilySeries: 2}})
	views := e.CounterVec("views_total", "post")
	for i := range 5 {
		views.With(fmt.Sprint(i)).Inc()
	}
	assert.Equal(t, map[string]float64{
		`views_total{post="0"}`:                 1,
		`views_total{post="1"}`:                 1,
		`views_total{hotcount_overflow="true"}`: 3,
	}, values(gather(t, registryOf(t, prom.New(e, prom.Options{})))))
}

// The text of different values differs, so that invalid ones neither fail the
// scrape nor take each other's counts.
func TestInvalidValuesStayApart(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	paths := e.CounterVec("paths_total", "path")
	given := []string{"\xff", "\xfe", "\ufffd", "\ufffdff", "", "a\x80", "a\x81", "é"}
	for _, v := range given {
		paths.With(v).Inc()
	}
	got := gather(t, registryOf(t, prom.New(e, prom.Options{})))
	assert.Len(t, got, len(given))
}

func TestWindowBesideALabelOfThatName(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	o := window.EventsOptions{Resolution: time.Minute, Buckets: 60}
	_, err := e.Events("orders", o, "window", "left", "exported_window", "right", "z", "last")
	require.NoError(t, err)
	got := gather(t, registryOf(t, prom.New(e, prom.Options{})))
	assert.Contains(t, got, `orders{exported_exported_window="left",exported_window="right",window="1h",z="last"}`)
}
