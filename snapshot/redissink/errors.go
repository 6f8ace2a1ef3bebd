package redissink

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
)

var (
	// ErrDenied is wrapped when Redis does not let the client in, or not do
	// what it needs to. From Write it is terminal, see export.IsTerminal.
	ErrDenied = errors.New("hotcount/redissink: access denied")

	// ErrLayout is wrapped when the store has been laid out by another
	// version or with other Partitions. From Write it is terminal.
	ErrLayout = errors.New("hotcount/redissink: the store has another layout")

	// ErrWrongType is wrapped when a key that the sink needs is somebody
	// else's. From Write it is terminal.
	ErrWrongType = errors.New("hotcount/redissink: a key is not the sink's")

	// ErrReadOnly is wrapped when the server is a replica, such as after a
	// fail-over that the client has not followed yet.
	ErrReadOnly = errors.New("hotcount/redissink: the server is read-only")

	// ErrFull is wrapped when the server has no memory or disk left.
	ErrFull = errors.New("hotcount/redissink: the server is full")

	// ErrInterrupted is wrapped when another process flushed under the same
	// writer id at the same time. The next Write finds out which of them
	// goes on under a new one.
	ErrInterrupted = errors.New("hotcount/redissink: another flush came between")
)

// kinds tells the sink's errors by how Redis' own begin, after "ERR" if there is
// that.
var kinds = []struct {
	prefix   string
	err      error
	terminal bool
}{
	{"NOAUTH", ErrDenied, true},
	{"WRONGPASS", ErrDenied, true},
	{"NOPERM", ErrDenied, true},
	{"invalid password", ErrDenied, true},
	{"AUTH ", ErrDenied, true}, // a password for a server that has none
	{"WRONGTYPE", ErrWrongType, true},
	{"READONLY", ErrReadOnly, false},
	{"OOM", ErrFull, false},
	{"MISCONF", ErrFull, false}, // it cannot write its own files
}

// typed wraps an error of the client in the sink's own. What is not known is
// taken for something that passes.
func typed(err error) error {
	if err == nil {
		return nil
	}
	for _, kind := range kinds {
		if redis.HasErrorPrefix(err, kind.prefix) || inScript(err, kind.prefix) {
			err = fmt.Errorf("%w: %w", kind.err, err)
			if kind.terminal {
				err = export.Terminal(err)
			}
			return err
		}
	}
	return fmt.Errorf("hotcount/redissink: %w", err)
}

// inScript reports whether err is what a Redis before 7 makes of a script's
// error that begins with prefix.
func inScript(err error, prefix string) bool {
	return redis.HasErrorPrefix(err, "Error running script") && strings.Contains(err.Error(), "-"+prefix)
}
