package window

import "time"

// A Span is what was counted over a stretch of time.
type Span struct {
	// Count is how much was added in the stretch. It is negative when more
	// was subtracted.
	Count int64
	// Covered is how much running time the stretch holds, by the monotonic
	// clock. It never includes Gap.
	Covered time.Duration
	// Gap is what the stretch hides: how long the process was down in it,
	// and how far the wall clock jumped in it, whether somebody set the clock
	// or the machine was suspended. 0 is the normal case.
	Gap time.Duration
}

// PerSecond returns Count per second of Covered, 0 for an empty span.
func (s Span) PerSecond() float64 {
	if s.Covered <= 0 {
		return 0
	}
	return float64(s.Count) / s.Covered.Seconds()
}

// A Bucket is one slice of a window. Its Covered differs from the resolution
// when the bucket is the first or the live one, when its last tick was late, or
// when the wall clock jumped.
type Bucket struct {
	// Start is what the wall clock showed when the bucket began: the multiple of
	// the resolution that the bucket is of, or what the first one began after
	// that, or its tick was late.
	Start time.Time
	Span
}
