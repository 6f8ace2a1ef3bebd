// Package bench measures what counting costs: hotcount's own ways, and with
// package peers those that people use today, at the same work.
//
//	workloads × layouts, goroutines, reads, keys ──Plan──▶ cases ──Run──▶ Report
//
// A [Workload] is a kind of work with the implementations that do it; [Workloads]
// returns all. A [Case] is one of them at work in one way. [Run] measures cases
// and returns a [Report], which is plain data: it is kept as JSON, and shown by
// whoever likes. "hotbench run" is these three calls.
//
// To measure a counter of your own, write an [Impl] and add it to a workload.
//
// # How a case is measured
//
// A round makes the counters anew, so that luck in where they lie in memory is in
// the spread and not in the result. Goroutines make some steps to warm up, then
// begin together and make as many steps each as fill a round. The result of the
// round is all their steps over the wall time until the last one has ended. Up to
// one goroutine a P they begin at once; more of them sleep until then, and waking
// them is part of the round.
//
// In the first pass over all cases each finds out how many steps fill a round. Cases that
// are to be compared, which differ in nothing but the implementation and its
// layout, take turns within a moment; their order and that of all else is drawn
// anew in each pass. After every round the counts are compared with what was
// added, and a wrong one ends the run.
//
// A round is disturbed if the process used less than 95 % of the processor time
// that its goroutines could have used: something else ran. Disturbed rounds are
// made again at the end, and count only where there are too few others.
// Goroutines that wait for each other use less, too, so the rounds of a contended
// mutex may be among them. Where the processor time is not to be had, none is.
//
// Latencies are of single operations in a pass of their own, in which one in a
// thousand is timed while all goroutines go on at full speed. What the clock costs
// is measured in the same place and subtracted; it is in the result.
//
// Memory is that of a thousand counters on the heap after each was added to once,
// divided by a thousand. A counter that goes hot by itself is cold then. For
// look-ups it includes the label values that the loop holds, the same for all.
//
// # What the figures do not say
//
// Where goroutines cannot all run, they write one after the other and contend
// less: a mutex that is fought over, and writers beside a reader that has taken a
// processor, as in the workload "snapshot", can seem faster than the same counter
// by itself. Compare implementations there, not workloads.
//
// A loop that does nothing else finds the most contention there can be. The same
// loop costs every implementation a few instructions an operation, those that
// look a key up in a script a few more. Nothing is said of more processors than
// there are. See [Report.Caveats].
package bench
