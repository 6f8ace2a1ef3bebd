package filesink

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked is wrapped by Open's error when another Sink, in this process or
// another, has the directory open.
var ErrLocked = errors.New("hotcount/filesink: directory is in use")

const lockName = "LOCK"

// lockDir locks the directory until the returned file is closed, which the end
// of the process does too: a lock cannot go stale. The lock file stays.
func lockDir(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("hotcount/filesink: lock file: %w", err)
	}
	held, err := lockFile(f)
	switch {
	case err != nil:
		err = fmt.Errorf("hotcount/filesink: lock %s: %w", root.Name(), err)
	case held:
		err = fmt.Errorf("%w: %s: only one process may write to it", ErrLocked, root.Name())
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}
