//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filesink

import (
	"errors"
	"os"
)

// lockFile refuses: without a lock that ends with its process, two processes
// could undo each other's files.
func lockFile(*os.File) (held bool, err error) { return false, errors.ErrUnsupported }
