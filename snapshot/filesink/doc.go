// Package filesink keeps snapshots in a directory, so that counts outlive the
// process.
//
// # Promise
//
// When Write returns nil, the snapshot is found again after a crash of the
// process, of the kernel or of the power supply, as far as the disk keeps what
// it has confirmed. A crash loses the counts made since the last such Write and
// nothing else, and nothing is ever counted twice. This holds for a crash at any
// moment, also while a new process restores.
//
// A file that has been damaged since is noticed: every byte is checksummed. The
// generation before it is used, which costs one interval of counting, and the
// damaged file is set aside under another name, never deleted. If a writer has
// no readable generation, Open fails with ErrUnreadable rather than go on with
// wrong totals.
//
// # Lifetime totals
//
// Each run of an engine is a writer of its own, with its own id. At start, Open
// finds the last snapshots of earlier writers, and Restored returns them. The
// lifetime total of a series is the sum of its rows in all of Restored and in
// the running engine.
//
// If counts go to other sinks as well, earlier writers' snapshots are handed on
// to those first, under the ids that they were counted under, so that a fleet
// total neither misses nor doubles them. When all sinks hold a writer's
// snapshot, Fold adds it to the base, the sum over all earlier writers, so that
// restarts cost no growing pile of files.
//
// # Directory
//
// A directory belongs to one Sink at a time, which a lock enforces; the lock
// ends with its process. Files are readable and writable by their owner only,
// and no name is chosen by what is counted. The directory must be on a local
// file system: network file systems may ignore locks and fsync.
//
//	LOCK                                            the lock
//	<writer>-<seq>.hcs                              a snapshot
//	00000000000000000000000000000000-<n>.hcs        the base
//	<name>.hcs.damaged                              a file set aside
//	<n>.tmp                                         an unfinished file
//
// # Copies and backups
//
// No file changes once it has its name, so the files may be copied while a Sink
// is open. If none has vanished before it was copied, the copy is a whole state,
// if not the newest; else copy again.
//
// A process that starts on a copy counts under a new writer id, so what it
// counts is never confused with the original's. Both then have the same history:
// the local lifetime totals of the two must not be added up. A sink that keeps
// rows per writer, as the remote ones do, receives that history under the old
// ids from both, and keeps it once.
//
// A restored backup takes the local totals back to when it was made. The counts
// since then are in the remote sinks, if there are any, and stay there.
package filesink
