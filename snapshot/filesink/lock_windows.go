package filesink

import (
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	const firstByte = 1
	return windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, firstByte, 0, new(windows.Overlapped))
}
