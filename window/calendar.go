package window

import (
	"fmt"
	"slices"
	"time"
)

// A Unit is the length of calendar buckets.
type Unit uint8

const (
	// Hour buckets are hours of the zone's wall clock.
	Hour Unit = iota
	// Day buckets are days of the zone's calendar: 23, 24 or 25 hours, where
	// the zone has daylight saving time.
	Day
)

// A Calendar divides time into hours or days, as people in a zone count them.
// The zero Calendar is the hours of UTC. Every moment is in exactly one bucket
// and labels do not repeat: an hour that a zone lives through twice is two
// buckets.
type Calendar struct {
	Unit Unit
	Zone *time.Location // nil is UTC
}

// A Period is one calendar bucket.
type Period struct {
	// Label is the calendar's Label, such as "2025-06-01T14".
	Label      string
	Start, End time.Time
	Span
	// Cut says that the first of the buckets begins after Start, by more than
	// half of itself, so that Count misses what was added before. Only the
	// oldest period can be cut.
	Cut bool
}

// Label returns the name of the bucket that t is in: "2025-06-01" for days,
// "2025-06-01T14" for hours of UTC and, so that they do not repeat,
// "2025-06-01T14-0400" for hours of other zones. Labels sort by time, except
// among hours that a zone repeats.
func (c Calendar) Label(t time.Time) string {
	t = t.In(c.zone())
	switch {
	case c.Unit == Day:
		return t.Format(time.DateOnly)
	case c.zone() == time.UTC:
		return t.Format("2006-01-02T15")
	}
	return t.Format("2006-01-02T15-0700")
}

// Bounds returns when the bucket that t is in starts, and when the next does.
// Start is in it and end is not.
func (c Calendar) Bounds(t time.Time) (start, end time.Time) {
	t = t.In(c.zone())
	if c.Unit == Day {
		start = startOfDay(t.Year(), t.Month(), t.Day(), c.zone())
		for days := 1; ; days++ { // a zone that crosses the date line skips a day
			if end = startOfDay(t.Year(), t.Month(), t.Day()+days, c.zone()); end.After(t) {
				return start, end
			}
		}
	}
	start = t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
	end = start.Add(time.Hour)
	// An hour ends early where the zone's offset changes within it.
	from, to := t.ZoneBounds()
	if from.After(start) {
		start = from
	}
	if !to.IsZero() && to.Before(end) {
		end = to
	}
	return start, end
}

// startOfDay returns the first moment of a date. Midnight may not exist in the
// zone; time.Date then returns a moment on one side of the change.
func startOfDay(y int, m time.Month, d int, zone *time.Location) time.Time {
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	if t.YearDay() != noon.YearDay() { // before the change
		_, t = t.ZoneBounds()
	}
	// Midnight may come twice, or the day begin after the change.
	if from, _ := t.ZoneBounds(); !from.IsZero() {
		before := from.Add(-time.Nanosecond)
		if early := t.Add(offset(t) - offset(before)); early.Before(from) && early.YearDay() == t.YearDay() {
			return early
		}
	}
	return t
}

// offset returns the zone's offset from UTC at t.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// Fold adds buckets of a window up to periods of the calendar, oldest first.
// Each bucket goes to the period that it starts in, so its width should divide
// the periods: 15 minutes or finer divide the hours of every zone.
//
// Fold what BucketsOf returns for one rung of a Ring, or Events' Buckets. Counts
// are absolute: a later Fold has the same count or a higher one under the same
// Label, until the window forgets buckets of the period and it is Cut. So an
// exporter may store them under the Label and replace what it stored earlier,
// leaving out a period that is Cut unless the counting itself began after its
// Start.
func (c Calendar) Fold(buckets []Bucket) []Period {
	var periods []Period
	for i, b := range buckets {
		p := c.period(&periods, b.Start)
		p.Count += b.Count
		p.Covered += b.Covered
		p.Gap += b.Gap
		if i == 0 {
			p.Cut = b.Start.Add(-b.Covered / 2).After(p.Start)
		}
	}
	// They are out of order only if the wall clock was set back.
	slices.SortFunc(periods, func(p, q Period) int { return p.Start.Compare(q.Start) })
	return periods
}

// period returns the one of the periods that t is in, made if it is new.
func (c Calendar) period(periods *[]Period, t time.Time) *Period {
	for i := len(*periods) - 1; i >= 0; i-- {
		if p := &(*periods)[i]; !t.Before(p.Start) && t.Before(p.End) {
			return p
		}
	}
	start, end := c.Bounds(t)
	*periods = append(*periods, Period{Label: c.Label(t), Start: start, End: end})
	return &(*periods)[len(*periods)-1]
}

func (c Calendar) zone() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// String returns "hour" or "day".
func (u Unit) String() string {
	switch u {
	case Hour:
		return "hour"
	case Day:
		return "day"
	}
	return fmt.Sprintf("unit %d", uint8(u))
}
