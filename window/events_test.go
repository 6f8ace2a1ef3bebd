package window

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inEvents runs f in a bubble with Events on its clock.
func inEvents(t *testing.T, o EventsOptions, f func(t *testing.T, e *Events)) {
	synctest.Test(t, func(t *testing.T) {
		e, err := NewEvents(o)
		require.NoError(t, err)
		f(t, e)
	})
}

// TestEventsOracle gives events in any order and compares with a map by tick,
// which follows the same rules in order.
func TestEventsOracle(t *testing.T) {
	for seed := range uint64(20) {
		inEvents(t, EventsOptions{Resolution: time.Minute, Buckets: 30, Lateness: 9 * time.Minute}, func(t *testing.T, e *Events) {
			rng := rand.New(rand.NewPCG(seed, 5))
			byTick := map[int64]int64{}
			var st EventsStats
			newest := int64(0)
			for range 2000 {
				pass(time.Duration(rng.Int64N(int64(10 * time.Second))))
				at := time.Now().Add(-time.Duration(rng.ExpFloat64()*float64(5*time.Minute)) + 2*time.Minute)
				n := rng.Int64N(10)
				e.AddAt(at, n)
				tick := at.Unix() / 60
				switch {
				case tick > time.Now().Unix()/60+1:
					st.Future += n
				case tick < newest-9:
					st.Late += n
				default:
					newest = max(newest, tick)
					byTick[tick] += n
					st.Added += n
				}
			}
			buckets := e.Buckets()
			for _, b := range buckets {
				require.Equal(t, byTick[b.Start.Unix()/60], b.Count)
				require.Equal(t, time.Minute, b.Covered)
			}
			require.Equal(t, newest, buckets[len(buckets)-1].Start.Unix()/60)
			require.LessOrEqual(t, len(buckets), 30)
			st.Evicted = st.Added - sum(buckets)
			require.NotZero(t, st.Late)
			require.NotZero(t, st.Future)
			require.Equal(t, st, e.Stats())
			require.Equal(t, newest-9, e.Final().Unix()/60)

			for _, d := range []time.Duration{0, 1, time.Minute, 10 * time.Minute, time.Hour} {
				span := e.Last(d)
				in := int(span.Covered / time.Minute)
				require.Equal(t, sum(buckets[len(buckets)-in:]), span.Count)
				require.Equal(t, min(len(buckets), int((d+time.Minute-1)/time.Minute)), in)
			}
		})
	}
}

func TestEventsEmpty(t *testing.T) {
	inEvents(t, EventsOptions{}, func(t *testing.T, e *Events) {
		assert.Zero(t, e.Last(time.Hour))
		assert.Empty(t, e.Buckets())
		assert.Zero(t, e.Stats())
		assert.True(t, e.Final().IsZero())
		assert.Empty(t, e.AppendRows(nil))
	})
}

// TestEventsAnyTime adds at times that nanoseconds since 1970 cannot express.
func TestEventsAnyTime(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want EventsStats
	}{
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), EventsStats{Added: 1, Future: 5}},
		{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), EventsStats{Added: 1, Future: 5}},
		{time.Unix(math.MaxInt64, 0), EventsStats{Added: 1, Future: 5}},
		{time.Unix(math.MinInt64, 0), EventsStats{Added: 1, Late: 5}},
		{time.Time{}, EventsStats{Added: 1, Late: 5}},
		{time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), EventsStats{Added: 1, Late: 5}},
		{time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), EventsStats{Added: 1, Late: 5}},
	} {
		inEvents(t, EventsOptions{Resolution: time.Millisecond}, func(t *testing.T, e *Events) {
			e.AddAt(time.Now(), 1)
			e.AddAt(c.at, 5)
			assert.Equal(t, c.want, e.Stats(), "%v", c.at)
		})
	}
	inEvents(t, EventsOptions{}, func(t *testing.T, e *Events) { // before 1970
		at := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)
		e.AddAt(at.Add(-1), 2)
		e.AddAt(at, 3)
		require.Len(t, e.Buckets(), 2)
		assert.Equal(t, int64(2), e.Buckets()[0].Count)
		assert.True(t, at.Equal(e.Buckets()[1].Start))
	})
}

// TestEventsSkipFarAhead lets years pass between two events.
func TestEventsSkipFarAhead(t *testing.T) {
	inEvents(t, EventsOptions{Buckets: 1000}, func(t *testing.T, e *Events) {
		e.AddAt(time.Now().AddDate(-20, 0, 0), 7)
		e.AddAt(time.Now(), 1)
		assert.Equal(t, EventsStats{Added: 8, Evicted: 7}, e.Stats())
		assert.Len(t, e.Buckets(), 1)
		assert.Equal(t, Span{1, time.Second, 0}, e.Last(time.Hour))
	})
}

// TestEventsWriters lets writers rotate a ring as fast as they can, all at the
// same ticks. Nothing is evicted in the first part, so every tick's sum must be
// exact; in the second nearly all is.
func TestEventsWriters(t *testing.T) {
	const writers, ticks, each = 2, 2000, 10
	base := time.Now().Add(-time.Hour)
	for _, buckets := range []int{ticks, 3} {
		e, err := NewEvents(EventsOptions{Resolution: time.Millisecond, Buckets: buckets})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for tick := range ticks {
					for range each {
						e.AddAt(base.Add(time.Duration(tick)*time.Millisecond), 1)
					}
				}
			})
		}
		wg.Wait()
		st := e.Stats()
		require.Equal(t, int64(writers*ticks*each), st.Added+st.Late)
		require.Zero(t, st.Future)
		require.Equal(t, st.Added, st.Evicted+sum(e.Buckets()))
		if buckets == ticks {
			require.Zero(t, st.Late)
			for _, b := range e.Buckets() {
				require.Equal(t, int64(writers*each), b.Count)
			}
		}
	}
}

func TestEventsRestore(t *testing.T) {
	inEvents(t, EventsOptions{Resolution: time.Minute}, func(t *testing.T, e *Events) {
		for i := range 30 {
			e.AddAt(time.Now().Add(-time.Duration(i)*time.Minute), int64(i))
		}
		rows := e.AppendRows(nil)
		again, err := NewEvents(EventsOptions{Resolution: time.Minute})
		require.NoError(t, err)
		require.NoError(t, again.Restore(append(rows, Row{Resolution: time.Hour, Width: time.Hour, Count: 5})))
		assert.Equal(t, ofEarlierRun(rows), again.AppendRows(nil))
		again.AddAt(time.Now(), 3)
		assert.Equal(t, Row{time.Minute, time.Now().Truncate(time.Minute).UnixNano(), time.Minute, 3, false}, again.AppendRows(nil)[len(rows)], "a row of its own")
		again.AddAt(time.Now(), -3)
		assert.Equal(t, e.Stats(), again.Stats())
		assert.Equal(t, e.Last(time.Hour).Count, again.Last(time.Hour).Count)
	})
}

func TestEventsOptions(t *testing.T) {
	for _, o := range []EventsOptions{
		{Buckets: -1},
		{Resolution: 1},
		{Lateness: -1},
		{Lateness: time.Minute},
		{Buckets: 2, Lateness: time.Second + 1},
	} {
		_, err := NewEvents(o)
		assert.ErrorIs(t, err, ErrOptions, "%+v", o)
	}
}

// All that is held is a window too.
func TestEventsLastForEver(t *testing.T) {
	inEvents(t, EventsOptions{}, func(t *testing.T, e *Events) {
		assert.Zero(t, e.Last(math.MaxInt64).Count)
		e.AddAt(time.Now(), 3)
		assert.EqualValues(t, 3, e.Last(math.MaxInt64).Count)
	})
}
