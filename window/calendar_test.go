package window

import (
	"testing"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCalendarOracle walks through the hours around changes of many zones, in
// steps of 15 minutes and of a nanosecond, and checks that bounds change
// exactly where labels do.
func TestCalendarOracle(t *testing.T) {
	for _, c := range []struct {
		zone string
		day  string // near a change
	}{
		{"UTC", "2026-06-01"},
		{"America/New_York", "2026-03-08"},    // 23 hours
		{"America/New_York", "2026-11-01"},    // 25 hours
		{"Europe/Berlin", "2026-03-29"},       // 23 hours
		{"Europe/Berlin", "2026-10-25"},       // 25 hours
		{"Asia/Kolkata", "2026-06-01"},        // offset of 5:30
		{"Asia/Kathmandu", "2026-06-01"},      // offset of 5:45
		{"Australia/Lord_Howe", "2026-04-05"}, // set back by 30 minutes
		{"Australia/Lord_Howe", "2026-10-04"}, // and forward
		{"America/Sao_Paulo", "2018-11-04"},   // midnight does not exist
		{"America/Sao_Paulo", "2018-02-18"},   // 23:00 to midnight comes twice
		{"America/Havana", "2026-03-08"},      // midnight does not exist
		{"America/Havana", "2026-11-01"},      // midnight comes twice
		{"Pacific/Apia", "2011-12-30"},        // the day does not exist
		{"Asia/Beirut", "2026-03-29"},         // midnight does not exist
		{"Africa/Casablanca", "2026-02-15"},   // Ramadan
	} {
		zone, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		for _, unit := range []Unit{Hour, Day} {
			t.Run(c.zone+" "+c.day+" "+unit.String(), func(t *testing.T) {
				cal := Calendar{Unit: unit, Zone: zone}
				walk(t, cal, day.AddDate(0, 0, -3), day.AddDate(0, 0, 3))
			})
		}
	}
}

func walk(t *testing.T, cal Calendar, from, to time.Time) {
	seen := map[string]time.Time{}
	for at := from; at.Before(to); at = at.Add(15 * time.Minute) {
		start, end := cal.Bounds(at)
		label := cal.Label(at)
		require.False(t, start.After(at), "%v", at)
		require.True(t, end.After(at), "%v", at)
		require.Equal(t, label, cal.Label(start))
		require.Equal(t, label, cal.Label(end.Add(-1)))
		require.NotEqual(t, label, cal.Label(end))
		require.NotEqual(t, label, cal.Label(start.Add(-1)))
		before, ok := seen[label]
		require.True(t, !ok || before.Equal(start), "%v repeats", label)
		seen[label] = start
		for _, edge := range []time.Time{start, at, end.Add(-1)} {
			s, e := cal.Bounds(edge)
			require.True(t, s.Equal(start) && e.Equal(end), "%v and %v are in one bucket", at, edge)
		}
		next, _ := cal.Bounds(end)
		require.True(t, next.Equal(end), "buckets leave no time between them")
	}
}

func TestCalendarLabels(t *testing.T) {
	at := time.Date(2026, 6, 1, 14, 30, 0, 0, time.UTC)
	ny, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	assert.Equal(t, "2026-06-01T14", Calendar{}.Label(at))
	assert.Equal(t, "2026-06-01", Calendar{Unit: Day}.Label(at))
	assert.Equal(t, "2026-06-01T10-0400", Calendar{Zone: ny}.Label(at))
	assert.Equal(t, "2026-05-31", Calendar{Unit: Day, Zone: ny}.Label(at.Add(-12*time.Hour)))
	assert.Equal(t, []string{"hour", "day", "unit 7"}, []string{Hour.String(), Day.String(), Unit(7).String()})
}

// TestFoldRing folds a ring over the end of daylight saving time, in a zone
// with an offset of hours and a half.
func TestFoldRing(t *testing.T) {
	zone, err := time.LoadLocation("Australia/Adelaide") // clocks go back on 2000-03-26
	require.NoError(t, err)
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		c.set(84*24*time.Hour + 7*time.Minute) // 2000-03-25
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, 15*time.Minute, 4*24*3))
		for range 2 * 24 * 60 {
			pass(30 * time.Second)
			o.add(1)
			pass(30 * time.Second)
		}
		days := Calendar{Unit: Day, Zone: zone}.Fold(w.Buckets())
		require.Len(t, days, 3)
		assert.Equal(t, "2000-03-26", days[1].Label)
		assert.Equal(t, int64(25*60), days[1].Count)
		assert.Equal(t, 25*time.Hour, days[1].Covered)
		assert.Equal(t, []bool{true, false, false}, []bool{days[0].Cut, days[1].Cut, days[2].Cut})

		hours := Calendar{Zone: zone}.Fold(w.Buckets())
		assert.Len(t, hours, 49)
		total := int64(0)
		for _, h := range hours {
			total += h.Count
		}
		assert.Equal(t, o.Value(), total)
		for _, h := range hours[1 : len(hours)-1] {
			assert.Equal(t, int64(60), h.Count, "%v", h.Label)
		}
	})
}

// TestFoldAfterSetBack lives through an hour twice: it is one period.
func TestFoldAfterSetBack(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, 15*time.Minute, 100))
		for i := range 6 * 60 {
			if i == 3*60 {
				c.set(-3 * time.Hour)
			}
			pass(time.Minute - 1)
			o.add(1)
			pass(1)
		}
		hours := Calendar{}.Fold(w.Buckets())
		require.Len(t, hours, 4)
		for i, h := range hours[:3] {
			assert.InDelta(t, 120, h.Count, 15)
			assert.True(t, i == 0 || h.Start.Equal(hours[i-1].End))
		}
		assert.False(t, hours[0].Cut)
	})
}

func TestFoldEvents(t *testing.T) {
	inEvents(t, EventsOptions{Resolution: time.Hour, Buckets: 48}, func(t *testing.T, e *Events) {
		for i := range 30 {
			e.AddAt(time.Now().Add(-time.Duration(i)*time.Hour), 1)
		}
		days := Calendar{Unit: Day}.Fold(e.Buckets())
		require.Len(t, days, 3)
		assert.Equal(t, []int64{5, 24, 1}, []int64{days[0].Count, days[1].Count, days[2].Count})
		assert.True(t, days[0].Cut)
		assert.Empty(t, Calendar{}.Fold(nil))
	})
}
