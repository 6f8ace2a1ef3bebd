package snapshot

import (
	"context"
	"errors"
)

// A Sink keeps snapshots.
type Sink interface {
	// Write makes s durable, or returns an error and may be called again
	// with the same or a newer snapshot. It must be idempotent: s twice, or
	// s after a newer snapshot of the same writer, changes nothing. It
	// returns soon after ctx is done. It does not keep s.
	//
	// Calls come one at a time.
	Write(ctx context.Context, s *Snapshot) error
}

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
