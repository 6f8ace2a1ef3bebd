package hotcount

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// A flaky sink fails while told to.
type flaky struct {
	failing atomic.Bool
	*ledger
}

func (f *flaky) String() string { return "flaky" }

func (f *flaky) Write(ctx context.Context, s *snapshot.Snapshot) error {
	if f.failing.Load() {
		return errors.New("out of order")
	}
	return f.ledger.Write(ctx, s)
}

func TestHealthOfSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := newEngine(t, Options{Limits: Limits{FamilySeries: 2}}), newLedger(t)
		v := e.CounterVec("views_total", "post")
		a, b := v.With("a"), v.With("b")
		v.With("c").Inc()
		v.With("d").Inc()
		s := l.export(e)
		for key, want := range map[string]int64{
			"hotcount_series_created_total":                         3,
			"hotcount_series_evicted_total":                         0,
			"hotcount_snapshots_total":                              1,
			`hotcount_overflow_lookups_total{metric="views_total"}`: 2,
		} {
			row, found := counterRow(s, key)
			assert.True(t, found, key)
			assert.Equal(t, want, row.Value, key)
		}
		wantGauge(t, s, "hotcount_series", 2)
		_, found := gauge(s, "hotcount_busiest_adds_per_second")
		assert.False(t, found, "there is no interval yet")

		time.Sleep(20 * time.Second)
		a.Add(100)
		b.Add(40)
		s = l.export(e)
		wantGauge(t, s, "hotcount_busiest_adds_per_second", 100/20)
		wantGauge(t, s, "hotcount_busiest_skew_ratio", 0)
		wantGauge(t, s, "hotcount_busiest_sum_seconds", 0)
		wantGauge(t, s, "hotcount_sweep_seconds", 0)

		b.Delete()
		s = l.export(e)
		wantGauge(t, s, "hotcount_series_dormant", 1)
		_, found = gauge(s, "hotcount_busiest_adds_per_second")
		assert.False(t, found, "none rose")
		s = l.export(e)
		wantGauge(t, s, "hotcount_series", 1)
		wantGauge(t, s, "hotcount_series_dormant", 0)
		wantGauge(t, s, "hotcount_series_parked", 1)
		row, _ := counterRow(s, "hotcount_series_evicted_total")
		assert.EqualValues(t, 1, row.Value)
		assert.NotNil(t, b)
	})
}

// A counter of an amount rises by more than one with each add, so its rise is no
// number of adds.
func TestAmountsAreNotTheBusiest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := newEngine(t, Options{Limits: Limits{FamilySeries: 1}}), newLedger(t)
		requests, took := e.Counter("requests_total"), e.CounterVec("request_duration_nanoseconds_total", "code")
		l.export(e)
		for _, adds := range []int64{0, 4000} {
			time.Sleep(10 * time.Second)
			requests.Add(adds)
			took.With("200").Add(8_000_000)
			took.With("500").Add(90_000_000) // in the overflow series
			e.Counter("response_bytes_total").Add(1 << 20)
			got, found := gauge(l.export(e), "hotcount_busiest_adds_per_second")
			assert.Equal(t, adds > 0, found)
			assert.Equal(t, float64(adds)/10, got)
		}
	})
}

func wantGauge(t *testing.T, s *snapshot.Snapshot, key string, want float64) {
	t.Helper()
	got, found := gauge(s, key)
	assert.True(t, found, key)
	assert.Equal(t, want, got, key)
}

func TestHealthOfSinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &flaky{ledger: newLedger(t)}
		e, err := New(Options{Sinks: []export.Sink{sink}, Interval: 10 * time.Second})
		require.NoError(t, err)
		defer e.Close(context.Background())

		require.NoError(t, e.Flush(t.Context()))
		sink.failing.Store(true)
		const down = 100 * time.Second
		began := time.Now()
		time.Sleep(down)
		synctest.Wait()

		var s snapshot.Snapshot
		e.Snapshot(&s)
		lag, found := gauge(&s, `hotcount_export_lag_seconds{sink="flaky"}`)
		assert.True(t, found)
		assert.GreaterOrEqual(t, lag, down.Seconds())
		assert.Less(t, lag, (down + time.Since(began)).Seconds())
		writes, _ := counterRow(&s, `hotcount_sink_writes_total{sink="flaky"}`)
		failures, _ := counterRow(&s, `hotcount_sink_failures_total{sink="flaky"}`)
		assert.Positive(t, failures.Value)
		assert.Greater(t, writes.Value, failures.Value)
		assert.Equal(t, e.ExportStats().Sinks[0].Failures, uint64(failures.Value))
		wantGauge(t, &s, `hotcount_sink_blocked{sink="flaky"}`, 0)

		sink.failing.Store(false)
		require.NoError(t, e.Flush(t.Context()))
		synctest.Wait()
		e.Snapshot(&s)
		lag, _ = gauge(&s, `hotcount_export_lag_seconds{sink="flaky"}`)
		assert.Less(t, lag, 1.0, "an acknowledgement ends the lag")
	})
}

// The package comment lists just the series that there are.
func TestHealthIsDocumented(t *testing.T) {
	sink := &flaky{ledger: newLedger(t)}
	e := newEngine(t, Options{Sinks: []export.Sink{sink}, Limits: Limits{Series: 1}})
	v := e.CounterVec("views_total", "post")
	_, err := e.Window(v.With("a"), window.Options{})
	require.NoError(t, err)
	_, err = e.Events("events", window.EventsOptions{})
	require.NoError(t, err)
	v.With("b")
	var s snapshot.Snapshot
	e.Snapshot(&s)
	v.With("a").Inc()
	require.NoError(t, e.Adjust(Drift{Key: v.With("a").Key(), Counted: 1, Truth: 2}))
	e.Snapshot(&s)

	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	documented := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if f := strings.Fields(line); len(f) > 2 && strings.HasPrefix(f[1], reservedPrefix) {
			name, _, _ := strings.Cut(f[1], "{")
			documented[name+" "+f[2]] = true
		}
	}
	made := map[string]bool{}
	for _, r := range s.Counters {
		if strings.HasPrefix(r.Key.Name(), reservedPrefix) {
			made[r.Key.Name()+" counter"] = true
		}
	}
	for _, r := range s.Gauges {
		made[r.Key.Name()+" gauge"] = true
	}
	assert.Equal(t, documented, made)
}
