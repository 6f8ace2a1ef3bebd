package hotcount

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// lookIn returns a truth that knows what is in the map, by text form.
func lookIn(truth map[string]int64) func(context.Context, series.Key) (int64, bool, error) {
	return func(_ context.Context, k series.Key) (int64, bool, error) {
		n, ok := truth[k.String()]
		return n, ok, nil
	}
}

// Booking every drift makes the totals equal the truth, for series of this run
// and for those that only earlier ones know; each run's rows less its
// adjustments are what it counted.
func TestAdjustClosesEveryDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	dir := t.TempDir()
	truth := map[string]int64{}
	for range 3 {
		run(t, Options{Dir: dir}, func(e *Engine) {
			counted := map[string]int64{} // in this run
			for _, value := range hostile() {
				if r.IntN(3) > 0 {
					c, n := e.Counter("views_total", "post", value), r.Int64N(1000)
					c.Add(n)
					counted[c.Key().String()] += n
				}
			}
			before := totals(e)
			for series := range before {
				if r.IntN(4) > 0 {
					truth[series] = r.Int64N(2000) - 500
				}
			}
			drifts, err := e.Reconcile(t.Context(), lookIn(truth))
			require.NoError(t, err)
			require.Equal(t, before, totals(e), "reconciling changes nothing")
			booked := map[string]int64{}
			for i, d := range drifts {
				assert.True(t, i == 0 || drifts[i-1].Key.Compare(d.Key) < 0, "in order, none twice")
				assert.Equal(t, before[d.Key.String()], d.Counted)
				require.NoError(t, e.Adjust(d))
				booked[d.Key.String()] = d.Adjustment()
			}

			drifts, err = e.Reconcile(t.Context(), lookIn(truth))
			require.NoError(t, err)
			assert.Empty(t, drifts)
			for series, n := range totals(e) {
				if want, known := truth[series]; known {
					assert.Equal(t, want, n, series)
				} else {
					assert.Equal(t, before[series], n, series)
				}
			}
			var s snapshot.Snapshot
			e.Snapshot(&s)
			for series, n := range rowsLessAdjustments(&s, booked) {
				assert.Equal(t, counted[series], n, series)
			}
			assert.Empty(t, booked, "each is in the snapshot")
		})
	}
}

// rowsLessAdjustments returns the rows of a snapshot without what was adjusted.
// It takes the adjustments that the snapshot shows out of booked.
func rowsLessAdjustments(s *snapshot.Snapshot, booked map[string]int64) map[string]int64 {
	rows := map[string]int64{}
	for _, c := range s.Counters {
		switch c.Key.Name() {
		case "views_total":
			rows[c.Key.String()] += c.Value
		case "hotcount_adjustments":
			series := c.Key.Label("series")
			rows[series] -= c.Value
			if booked[series] == c.Value {
				delete(booked, series)
			}
		}
	}
	return rows
}

// A snapshot holds an adjustment in the counter and under its own name, or in
// neither.
func TestSnapshotsHoldAdjustmentsWhole(t *testing.T) {
	e := newEngine(t, Options{})
	k := e.Counter("jobs_total").Key()
	const adjusters, times = 4, 100
	var wg sync.WaitGroup
	for range adjusters {
		wg.Go(func() {
			for range times {
				assert.NoError(t, e.Adjust(Drift{Key: k, Truth: 1}))
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var s snapshot.Snapshot
	for last := false; !last; {
		select {
		case <-done:
			last = true
		default:
		}
		e.Snapshot(&s)
		count, _ := counterRow(&s, "jobs_total")
		booked, _ := counterRow(&s, `hotcount_adjustments{series="jobs_total"}`)
		require.Equal(t, count.Value, booked.Value)
	}
	assert.EqualValues(t, adjusters*times, e.Counter("jobs_total").Value())
}

// Adjustments have no limit of their own, and take no room from series.
func TestAdjustmentsAreNotCapped(t *testing.T) {
	const series = 20
	e := newEngine(t, Options{Limits: Limits{Series: series}})
	v := e.CounterVec("views_total", "post")
	for i := range series {
		require.NoError(t, e.Adjust(Drift{Key: v.With(fmt.Sprint(i)).Key(), Truth: 1}))
	}
	var s snapshot.Snapshot
	e.Snapshot(&s)
	for i := range series {
		row, found := counterRow(&s, fmt.Sprintf(`hotcount_adjustments{series="views_total{post=\"%d\"}"}`, i))
		assert.True(t, found)
		assert.EqualValues(t, 1, row.Value)
	}
	assert.Len(t, totals(e), series)
}

// What cannot be adjusted is an error and changes nothing, whatever the key.
func TestAdjustRefuses(t *testing.T) {
	dir := t.TempDir()
	run(t, Options{Dir: dir}, func(e *Engine) {
		e.Counter("relabelled_total", "old", "a").Add(5)
		e.Counter("now_uniques").Add(5)
	})
	run(t, Options{Dir: dir, Limits: Limits{FamilySeries: 1}}, func(e *Engine) {
		e.Counter("relabelled_total", "new", "a")
		e.Uniques("now_uniques")
		v := e.CounterVec("views_total", "post")
		v.With("a").Inc()
		overflow := v.With("b")
		overflow.Inc()
		before := totals(e)
		for text, reason := range map[string]string{
			`relabelled_total{old="a"}`:             `relabelled_total has labels ["new"], not ["old"]`,
			"now_uniques":                           "now_uniques is a uniques, not a counter",
			`views_total{hotcount_overflow="true"}`: "an overflow series holds the counts of many",
			`other{hotcount_overflow="x",post="a"}`: "metric other: the label hotcount_overflow is reserved",
			"hotcount_series_created_total":         "the prefix hotcount_ is reserved",
			`views_total{post="c"}`:                 "its family is full",
			"":                                      "the key names no series",
		} {
			var k series.Key
			if text != "" {
				var err error
				k, err = series.ParseKey(text)
				require.NoError(t, err)
			}
			err := e.Adjust(Drift{Key: k, Truth: 7})
			require.ErrorIs(t, err, ErrAdjust, text)
			assert.ErrorContains(t, err, reason)
		}
		assert.Equal(t, before, totals(e))
		assert.Empty(t, e.adjustments.rows)

		drifts, err := e.Reconcile(t.Context(), func(_ context.Context, k series.Key) (int64, bool, error) {
			assert.False(t, IsOverflow(k), "no truth is asked for it")
			return -1, true, nil
		})
		require.NoError(t, err)
		assert.Len(t, drifts, len(before)-1)
	})
}

// An end comes with what was found before it.
func TestReconcileEndsEarly(t *testing.T) {
	e := newEngine(t, Options{})
	for i := range 10 {
		e.Counter("views_total", "post", fmt.Sprint(i))
	}
	down := errors.New("database is down")
	for name, end := range map[string]func(context.CancelCauseFunc) error{
		"truth":   func(context.CancelCauseFunc) error { return down },
		"context": func(cancel context.CancelCauseFunc) error { cancel(down); return nil },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		asked := 0
		drifts, err := e.Reconcile(ctx, func(context.Context, series.Key) (int64, bool, error) {
			if asked++; asked == 4 {
				return 1, true, end(cancel)
			}
			return 1, true, nil
		})
		assert.ErrorIs(t, err, down, name)
		assert.Equal(t, 4, asked)
		assert.GreaterOrEqual(t, len(drifts), 3)
	}
}
