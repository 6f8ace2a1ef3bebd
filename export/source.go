package export

import "github.com/hotcount/hotcount/snapshot"

// A Source is what snapshots are taken of. The engine is one.
type Source interface {
	// Snapshot fills s, which is empty, with the current state under the
	// next Seq. It appends to s's rows, whose memory is reused. Calls come
	// one at a time.
	Snapshot(s *snapshot.Snapshot)

	// Acknowledge says that every sink holds a snapshot with this seq or a
	// later one. The source may then let go of the rows that were Final in
	// it. Calls come one at a time, with growing seq, perhaps while
	// Snapshot runs.
	Acknowledge(seq uint64)
}
