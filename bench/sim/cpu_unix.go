//go:build unix

package sim

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns how much time all threads of this process have spent on
// processors, and whether that is known.
func processorTime() (used time.Duration, ok bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
