package export

import (
	"context"
	"errors"

	"github.com/hotcount/hotcount/snapshot"
)

// A Sink keeps snapshots.
type Sink interface {
	// Write makes s durable, or returns an error and may be called again
	// with the same or a newer snapshot. It must be idempotent: s twice, or
	// s after a newer snapshot of the same writer, changes nothing. It
	// returns soon after ctx is done. It does not keep s.
	//
	// Calls come one at a time.
	Write(ctx context.Context, s *snapshot.Snapshot) error
}

// ErrTooLate is wrapped by the error of a Sink for the last snapshot of an
// earlier run, if the sink has added up that run's rows as they were in an
// older snapshot: how much of the newer one is in the sum can no longer be told.
// It says nothing about snapshots of other writers.
var ErrTooLate = errors.New("hotcount/export: an older snapshot of the writer has been added up")

// Terminal marks err as one that a retry cannot mend, such as a writer that a
// sink has already counted out. An exporter stops writing to a sink that
// returns such an error. Terminal of nil is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

// IsTerminal reports whether err, or one that it wraps, was made by Terminal.
func IsTerminal(err error) bool {
	var t *terminalError
	return errors.As(err, &t)
}

type terminalError struct{ err error }

func (t *terminalError) Error() string { return t.err.Error() }
func (t *terminalError) Unwrap() error { return t.err }
