package snapshot

import "context"

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
