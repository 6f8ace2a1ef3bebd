package otel_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/otel"
	"github.com/hotcount/hotcount/internal/enginetest"
)

// readerOf returns a reader over a Producer.
func readerOf(t testing.TB, e *hotcount.Engine, o otel.Options) *metric.ManualReader {
	t.Helper()
	r := metric.NewManualReader(metric.WithProducer(otel.New(e, o)))
	p := metric.NewMeterProvider(metric.WithReader(r))
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return r
}

// A value is a data point with what its metric says of it.
type value struct {
	kind  string
	n     float64
	start time.Time
	scope string
}

// collect returns all series but the engine's own, in the notation of hotcount.
func collect(t testing.TB, r metric.Reader) map[string]value {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, r.Collect(context.Background(), &rm))
	values := make(map[string]value)
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			if strings.HasPrefix(m.Name, "hotcount_") {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				require.Equal(t, metricdata.CumulativeTemporality, d.Temporality)
				kind := "sum"
				if !d.IsMonotonic {
					kind = "updown"
				}
				add(t, values, m.Name, kind, scope.Scope.Name, d.DataPoints)
			case metricdata.Gauge[int64]:
				add(t, values, m.Name, "gauge", scope.Scope.Name, d.DataPoints)
			case metricdata.Gauge[float64]:
				add(t, values, m.Name, "float", scope.Scope.Name, d.DataPoints)
			default:
				t.Fatalf("%s is %T", m.Name, m.Data)
			}
		}
	}
	return values
}

func add[N int64 | float64](t testing.TB, values map[string]value, name, kind, scope string, points []metricdata.DataPoint[N]) {
	t.Helper()
	for _, p := range points {
		id := name
		if p.Attributes.Len() > 0 {
			id += "{" + p.Attributes.Encoded(attribute.DefaultEncoder()) + "}"
		}
		require.NotContains(t, values, id)
		values[id] = value{kind, float64(p.Value), p.StartTime, scope}
	}
}

var kindOptions = otel.Options{
	Descriptions: map[string]string{"jobs_total": "Jobs done, all \xff of them."},
	Units:        map[string]string{"jobs_total": "{job}"},
	UpDown:       []string{"connections"},
}

// wantKinds is what enginetest.FillKinds looks like.
var wantKinds = map[string]string{
	"jobs_total{code=200,queue=mail}":                            "sum 7",
	"jobs_total.window{code=200,hotcount.window=1m,queue=mail}":  "gauge 7",
	"jobs_total.window{code=200,hotcount.window=1h,queue=mail}":  "gauge 7",
	"jobs_total.window{code=200,hotcount.window=24h,queue=mail}": "gauge 7",
	"clicks":                          "sum 2",
	"connections":                     "updown -3",
	"visitors{site=a}":                "gauge 1",
	"visitors.low{site=a}":            "gauge 1",
	"visitors.high{site=a}":           "gauge 1",
	"orders{hotcount.window=1h}":      "gauge 5",
	"recent{hotcount.window=1h}":      "gauge 1",
	"recent.low{hotcount.window=1h}":  "gauge 1",
	"recent.high{hotcount.window=1h}": "gauge 1",
	"jobs_total.window.seconds{code=200,hotcount.window=1m,queue=mail}":  "float",
	"jobs_total.window.seconds{code=200,hotcount.window=1h,queue=mail}":  "float",
	"jobs_total.window.seconds{code=200,hotcount.window=24h,queue=mail}": "float",
	"orders.seconds{hotcount.window=1h}":                                 "float",
	"recent.seconds{hotcount.window=1h}":                                 "float",
}

func kindsOf(values map[string]value) map[string]string {
	kinds := make(map[string]string)
	for id, v := range values {
		kinds[id] = fmt.Sprint(v.kind, " ", v.n)
		if v.kind == "float" {
			kinds[id] = v.kind
		}
	}
	return kinds
}

func TestProducerShowsEveryKind(t *testing.T) {
	began := time.Now()
	e := enginetest.New(t, hotcount.Options{})
	enginetest.FillKinds(t, e)
	got := collect(t, readerOf(t, e, kindOptions))
	assert.Equal(t, wantKinds, kindsOf(got))
	for id, v := range got {
		assert.Equal(t, otel.ScopeName, v.scope)
		if v.kind == "sum" || v.kind == "updown" {
			assert.WithinRange(t, v.start, began, time.Now(), id)
		} else {
			assert.Zero(t, v.start, id)
		}
	}
}

func TestDescriptionsAndUnits(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	enginetest.FillKinds(t, e)
	scopes, err := otel.New(e, kindOptions).Produce(context.Background())
	require.NoError(t, err)
	got := make(map[string][2]string)
	for _, m := range scopes[0].Metrics {
		got[m.Name] = [2]string{m.Description, m.Unit}
	}
	for name, want := range map[string][2]string{
		"jobs_total":                {"Jobs done, all \ufffd of them.", "{job}"},
		"jobs_total.window":         {"Jobs done, all \ufffd of them.", "{job}"},
		"jobs_total.window.seconds": {"How much time jobs_total.window is about.", "s"},
		"visitors.low":              {"Two standard errors below visitors.", ""},
		"hotcount_sweep_seconds":    {"", "s"},
		"clicks":                    {"", ""},
	} {
		assert.Equal(t, want, got[name], name)
	}
}

func TestProduceHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := otel.New(enginetest.New(t, hotcount.Options{}), otel.Options{}).Produce(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

// What a reader does with the data of one collection is nothing to the next.
func TestCollectionsShareNoMemory(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	c := e.Counter("jobs_total", "queue", "mail")
	p := otel.New(e, otel.Options{})
	c.Add(3)
	first, err := p.Produce(context.Background())
	require.NoError(t, err)
	c.Add(4)
	second, err := p.Produce(context.Background())
	require.NoError(t, err)
	for i, want := range []int64{3, 7} {
		for _, m := range [][]metricdata.ScopeMetrics{first, second}[i][0].Metrics {
			if m.Name == "jobs_total" {
				assert.Equal(t, want, m.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
			}
		}
	}
}

// What left the engine is not kept alive for the next collection.
func TestCollectionsLetGo(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	r := readerOf(t, e, otel.Options{})
	assert.Zero(t, enginetest.ParkedAfter(t, e, func() { collect(t, r) }))
	runtime.KeepAlive(r)

	e = enginetest.New(t, hotcount.Options{})
	p, byMeter := newMeter(t)
	e.Counter("gone_total") // so that there is an instrument for it
	_, err := otel.Register(p.Meter("shop"), e, otel.Options{})
	require.NoError(t, err)
	assert.Zero(t, enginetest.ParkedAfter(t, e, func() { collect(t, byMeter) }))
	runtime.KeepAlive(byMeter)
}
