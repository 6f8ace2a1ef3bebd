package otel_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/otel"
	"github.com/hotcount/hotcount/internal/enginetest"
)

// A meter that is read by a ManualReader.
func newMeter(t testing.TB) (*metric.MeterProvider, *metric.ManualReader) {
	t.Helper()
	r := metric.NewManualReader()
	p := metric.NewMeterProvider(metric.WithReader(r))
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return p, r
}

func TestRegisterShowsEveryKind(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	enginetest.FillKinds(t, e)
	p, r := newMeter(t)
	reg, err := otel.Register(p.Meter("shop"), e, kindOptions)
	require.NoError(t, err)
	for range 3 { // a collection leaves nothing that the next one adds to
		got := collect(t, r)
		assert.Equal(t, wantKinds, kindsOf(got))
		for id, v := range got {
			assert.Equal(t, "shop", v.scope, id)
		}
	}
	require.NoError(t, reg.Unregister())
	assert.Empty(t, collect(t, r))
	require.NoError(t, reg.Unregister())
}

// A collection sees every add that returned before it.
func TestRegisterShowsTheNewestCounts(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	a, b := e.Counter("a_total"), e.Counter("b_total")
	p, r := newMeter(t)
	_, err := otel.Register(p.Meter("shop"), e, otel.Options{})
	require.NoError(t, err)
	for i := range 10 {
		a.Inc()
		b.Add(2)
		got := collect(t, r)
		assert.EqualValues(t, i+1, got["a_total"].n)
		assert.EqualValues(t, 2*i+2, got["b_total"].n)
	}
}

// Collections that go on while Register makes its instruments do not make them
// again, which would count everything twice.
func TestRegisterBesideCollections(t *testing.T) {
	const metrics = 50
	e := enginetest.New(t, hotcount.Options{})
	for i := range metrics {
		e.Counter(fmt.Sprintf("jobs_%d_total", i)).Add(7)
	}
	p, r := newMeter(t)
	for range 10 {
		stop := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					collect(t, r)
				}
			}
		})
		reg, err := otel.Register(p.Meter("shop"), e, otel.Options{})
		close(stop)
		reader.Wait()
		require.NoError(t, err)
		got := collect(t, r)
		for i := range metrics {
			require.EqualValues(t, 7, got[fmt.Sprintf("jobs_%d_total", i)].n)
		}
		require.NoError(t, reg.Unregister())
	}
}

// What comes up later is there after a collection has seen that it is missing.
func TestRegisterFollowsTheEngine(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	p, r := newMeter(t)
	reg, err := otel.Register(p.Meter("shop"), e, otel.Options{})
	require.NoError(t, err)
	assert.Empty(t, collect(t, r))
	e.Counter("late_total").Add(5)
	for len(collect(t, r)) == 0 { // the instrument is made beside collections
	}
	got := collect(t, r)
	assert.Len(t, got, 1)
	assert.EqualValues(t, 5, got["late_total"].n)
	require.NoError(t, reg.Unregister())
	assert.Empty(t, collect(t, r))
}

// Two readers of one provider each get everything once.
func TestRegisterUnderTwoReaders(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	enginetest.FillKinds(t, e)
	a, b := metric.NewManualReader(), metric.NewManualReader()
	p := metric.NewMeterProvider(metric.WithReader(a), metric.WithReader(b))
	defer func() { _ = p.Shutdown(context.Background()) }()
	_, err := otel.Register(p.Meter("shop"), e, kindOptions)
	require.NoError(t, err)
	var readers sync.WaitGroup
	for _, r := range []metric.Reader{a, b} {
		readers.Go(func() {
			for range 20 {
				assert.Equal(t, wantKinds, kindsOf(collect(t, r)))
			}
		})
	}
	readers.Wait()
}

// A name that OpenTelemetry refuses is an error at the start, and reported later.
func TestRefusedNames(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	p, r := newMeter(t)
	reg, err := otel.Register(p.Meter("shop"), e, otel.Options{})
	require.NoError(t, err)

	reported := make(chan error, 1)
	api.SetErrorHandler(api.ErrorHandlerFunc(func(err error) {
		select {
		case reported <- err:
		default:
		}
	}))
	e.Counter("job:all").Inc()
	e.Counter("jobs_total").Inc()
	assert.Empty(t, collect(t, r))
	require.ErrorContains(t, <-reported, "hotcount/otel: instrument job:all: ")
	require.NoError(t, reg.Unregister())

	_, err = otel.Register(p.Meter("shop"), e, otel.Options{})
	require.ErrorContains(t, err, "hotcount/otel: instrument job:all: ")
	assert.Empty(t, collect(t, r))
}
