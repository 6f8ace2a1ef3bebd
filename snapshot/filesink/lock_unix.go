//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filesink

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile uses flock, which belongs to the open file. An fcntl lock belongs to
// the process, so a second Sink in the same process would get it too.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
