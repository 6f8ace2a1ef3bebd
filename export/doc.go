// Package export moves snapshots to durable places, and says how totals are read
// back from there.
//
// An Exporter takes snapshots of a Source at intervals and gives them to sinks,
// each at its own pace. A Sink that is slow or down gets the newest state when it
// can take one: there is no backlog. Close takes a last snapshot, flushes it by
// its context's deadline and reports which sinks do not hold it.
//
// A crash loses at most the counts made since the last completed snapshot, and
// nothing is counted twice.
//
// A Sink of your own needs one method, Write. If its store forgets nothing and
// each process has a store of its own, that is all: see the example of Sink. A
// store that processes share, that fails over, or that answers late, wants package
// sinkkit.
//
// A Reader gives the totals of all processes that export to one store.
package export
