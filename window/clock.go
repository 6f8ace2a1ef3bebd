package window

import (
	"time"
)

// A Clock returns the wall clock and how long the process has been running by
// a clock that nobody sets, both read at one moment. The elapsed reading must
// never decrease; where it starts does not matter.
//
// A nil Clock is the system's. Give another one to test steps of the wall
// clock, or to read a monotonic clock that goes on while the machine is
// suspended (CLOCK_BOOTTIME on Linux), which Go's does not.
type Clock func() (wall time.Time, elapsed time.Duration)

// systemClock returns a Clock that counts elapsed time from now.
func systemClock() Clock {
	start := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(start)
	}
}

// read returns both readings in nanoseconds.
func (c Clock) read() (wall, elapsed int64) {
	w, e := c()
	return w.UnixNano(), int64(e)
}
