package export

import (
	"context"

	"github.com/hotcount/hotcount/snapshot"
)

// A Sink keeps snapshots.
type Sink interface {
	// Write makes s durable, or returns an error and may be called again
	// with the same or a newer snapshot. It must be idempotent: s twice, or
	// s after a newer snapshot of the same writer, changes nothing. It
	// returns soon after ctx is done. It does not keep s. Its errors wrap those
	// of this package where they apply; one that wraps ErrTooLate is final for
	// the writer of s.
	//
	// Calls come one at a time.
	Write(ctx context.Context, s *snapshot.Snapshot) error
}
