package filesink

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile reports whether another open file holds the lock.
func lockFile(f *os.File) (held bool, err error) {
	const firstByte = 1
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, firstByte, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}
