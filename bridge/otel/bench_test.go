package otel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/otel"
	"github.com/hotcount/hotcount/internal/enginetest"
)

const benchSeries = 100_000

// BenchmarkCollect compares a collection of 100,000 counters by a Producer, and by
// instruments on a Meter, with that of counters of the SDK itself.
func BenchmarkCollect(b *testing.B) {
	e := enginetest.New(b, hotcount.Options{Limits: hotcount.Limits{FamilySeries: benchSeries}})
	views := e.CounterVec("views_total", "method", "post")
	for i := range benchSeries {
		views.With("GET", fmt.Sprintf("%08d", i)).Add(int64(i))
	}
	byMeter := metric.NewManualReader()
	p := metric.NewMeterProvider(metric.WithReader(byMeter), metric.WithCardinalityLimit(0))
	_, err := otel.Register(p.Meter("shop"), e, otel.Options{})
	require.NoError(b, err)

	native := metric.NewManualReader()
	counter, err := metric.NewMeterProvider(metric.WithReader(native), metric.WithCardinalityLimit(0)).
		Meter("shop").Int64Counter("views_total")
	require.NoError(b, err)
	for i := range benchSeries {
		counter.Add(context.Background(), int64(i), api.WithAttributes(
			attribute.String("method", "GET"), attribute.String("post", fmt.Sprintf("%08d", i))))
	}
	for _, impl := range []struct {
		name   string
		reader metric.Reader
	}{{"producer", readerOf(b, e, otel.Options{})}, {"meter", byMeter}, {"native", native}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var rm metricdata.ResourceMetrics
				require.NoError(b, impl.reader.Collect(context.Background(), &rm))
			}
		})
	}
}
