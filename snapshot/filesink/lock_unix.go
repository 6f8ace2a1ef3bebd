//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filesink

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile reports whether another open file holds the lock. It uses flock,
// which belongs to the open file. An fcntl lock belongs to the process, so a
// second Sink in the same process would get it too.
func lockFile(f *os.File) (held bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
