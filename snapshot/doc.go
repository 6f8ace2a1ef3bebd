// Package snapshot holds what an engine counted as plain data, and moves it to
// durable places.
//
// # Snapshots
//
// A Snapshot is absolute: each row is the whole count of one series since its
// writer started it, never a difference to an earlier snapshot. Applying one
// twice, late or out of order therefore changes nothing, as long as a sink
// keeps, per writer and series, the row with the highest Seq. A total over a
// fleet is the sum over writers.
//
// # Exporting
//
// An Exporter takes snapshots of a Source at intervals and gives them to sinks,
// each at its own pace. A sink that is slow or down gets the newest state when
// it can take one: there is no backlog. Close takes a last snapshot, flushes it
// by its context's deadline and reports which sinks do not hold it.
//
// A crash loses at most the counts made since the last completed snapshot, and
// nothing is counted twice.
//
// # Binary format
//
// WriteTo and ReadFrom stream a snapshot in a compact format, described byte by
// byte in format.go. Every byte is covered by a checksum, ReadFrom may be fed by
// a stranger, and files of every released version stay readable.
package snapshot
