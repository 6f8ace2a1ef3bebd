package otel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	proto "go.opentelemetry.io/proto/otlp/metrics/v1"
	pb "google.golang.org/protobuf/proto"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/otel"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/series"
)

// A receiver is an OTLP endpoint that keeps what it was sent last.
type receiver struct {
	exporter *otlpmetrichttp.Exporter

	mu   sync.Mutex
	last *collector.ExportMetricsServiceRequest
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	var err error
	r.exporter, err = otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpointURL(server.URL))
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.exporter.Shutdown(context.Background()) })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	sent := new(collector.ExportMetricsServiceRequest)
	if err == nil {
		err = pb.Unmarshal(body, sent)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.last = sent
	r.mu.Unlock()
	reply, err := pb.Marshal(new(collector.ExportMetricsServiceResponse))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(reply)
}

// export sends what a reader collects, and returns the metrics that arrived.
func (r *receiver) export(t testing.TB, from metric.Reader) map[string]*proto.Metric {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, from.Collect(context.Background(), &rm))
	require.NoError(t, r.exporter.Export(context.Background(), &rm))
	r.mu.Lock()
	defer r.mu.Unlock()
	metrics := make(map[string]*proto.Metric)
	for _, resource := range r.last.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				require.NotContains(t, metrics, m.GetName())
				metrics[m.GetName()] = m
			}
		}
	}
	return metrics
}

func attributesOf(pairs []*common.KeyValue) string {
	var parts []string
	for _, p := range pairs {
		parts = append(parts, fmt.Sprintf("%s=%q", p.GetKey(), p.GetValue().GetStringValue()))
	}
	return strings.Join(parts, ",")
}

func TestExport(t *testing.T) {
	began := time.Now()
	e := enginetest.New(t, hotcount.Options{})
	enginetest.FillKinds(t, e)
	r := newReceiver(t)
	got := r.export(t, readerOf(t, e, kindOptions))

	jobs := got["jobs_total"]
	require.NotNil(t, jobs)
	assert.Equal(t, "{job}", jobs.GetUnit())
	sum := jobs.GetSum()
	assert.True(t, sum.GetIsMonotonic())
	assert.Equal(t, proto.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, sum.GetAggregationTemporality())
	require.Len(t, sum.GetDataPoints(), 1)
	point := sum.GetDataPoints()[0]
	assert.EqualValues(t, 7, point.GetAsInt())
	assert.Equal(t, `code="200",queue="mail"`, attributesOf(point.GetAttributes()))
	assert.WithinRange(t, time.Unix(0, int64(point.GetStartTimeUnixNano())), began, time.Now())
	assert.GreaterOrEqual(t, point.GetTimeUnixNano(), point.GetStartTimeUnixNano())

	assert.False(t, got["connections"].GetSum().GetIsMonotonic())
	assert.EqualValues(t, 1, got["visitors.high"].GetGauge().GetDataPoints()[0].GetAsInt())
	assert.Zero(t, got["visitors"].GetGauge().GetDataPoints()[0].GetStartTimeUnixNano())
	assert.Equal(t, otel.ScopeName, r.last.GetResourceMetrics()[0].GetScopeMetrics()[0].GetScope().GetName())
}

func TestExportThroughAMeter(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	enginetest.FillKinds(t, e)
	p, reader := newMeter(t)
	_, err := otel.Register(p.Meter("shop"), e, kindOptions)
	require.NoError(t, err)
	got := newReceiver(t).export(t, reader)
	assert.EqualValues(t, 7, got["jobs_total"].GetSum().GetDataPoints()[0].GetAsInt())
	assert.Len(t, got["jobs_total.window"].GetGauge().GetDataPoints(), 3)
}

// Whatever bytes strangers send as label values, every series arrives with the
// right count, apart from the others.
func FuzzLabelValues(f *testing.F) {
	for _, v := range []string{"GET", "", "\xff", "\xfe", "\ufffd", "\ufffdff", "a\"\n\\", "\x00", "東京", "\xed\xa0\x80"} {
		f.Add(v, "x")
		f.Add("\xff", v)
	}
	r := newReceiver(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		e := enginetest.New(t, hotcount.Options{})
		jobs := e.CounterVec("jobs_total", "x", "y")
		want := make(map[string]int64)
		for i, v := range [][2]string{{a, b}, {b, a}, {a, a}, {a + b, ""}, {"", a + b}} {
			jobs.With(v[0], v[1]).Add(int64(i) + 1)
			want[fmt.Sprintf("x=%q,y=%q", series.ToValidUTF8(v[0]), series.ToValidUTF8(v[1]))] = jobs.With(v[0], v[1]).Value()
		}
		c := jobs.With(a, b)
		require.NoError(t, e.Adjust(hotcount.Drift{Key: c.Key(), Counted: c.Value(), Truth: c.Value() + 1}))
		want[fmt.Sprintf("x=%q,y=%q", series.ToValidUTF8(a), series.ToValidUTF8(b))]++
		e.Uniques("visitors", "x", a).AddString(b)

		got := r.export(t, readerOf(t, e, otel.Options{}))
		arrived := make(map[string]int64)
		for _, p := range got["jobs_total"].GetSum().GetDataPoints() {
			arrived[attributesOf(p.GetAttributes())] = p.GetAsInt()
		}
		require.Equal(t, want, arrived)
		adjusted := got["hotcount_adjustments"].GetSum().GetDataPoints()
		require.Len(t, adjusted, 1)
		require.Equal(t, fmt.Sprintf("series=%q", series.ToValidUTF8(c.Key().String())), attributesOf(adjusted[0].GetAttributes()))
		visitors := got["visitors"].GetGauge().GetDataPoints()
		require.Len(t, visitors, 1)
		require.Equal(t, fmt.Sprintf("x=%q", series.ToValidUTF8(a)), attributesOf(visitors[0].GetAttributes()))
	})
}
