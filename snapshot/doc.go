// Package snapshot holds what an engine counted as plain data, and writes it in a
// binary format. Package export moves it to durable places.
//
// # Snapshots
//
// A Snapshot is absolute: each row is the whole count of one series since its
// writer started it, never a difference to an earlier snapshot. Applying one
// twice, late or out of order therefore changes nothing, as long as a sink
// keeps, per writer and series, the row with the highest Seq. A total over a
// fleet is the sum over writers.
//
// # Binary format
//
// WriteTo and ReadFrom stream a snapshot in a compact format, described byte by
// byte in format.go. Every byte is covered by a checksum, ReadFrom may be fed by
// a stranger, and files of every released version stay readable.
package snapshot
