//go:build unix

package bench

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that the process has used, and 0 if
// the system does not tell.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
