// Command guard compares the benchmarks of an older commit with those of the
// working tree, as ratios:
//
//	go run ./bench/guard                  against the last tag
//	go run ./bench/guard -base v0.1.0     against that one, or any commit
//
// It checks the base out into a temporary worktree, which it removes at the end,
// also when it is interrupted. It builds the benchmarks of both with the Go that
// runs it, and runs them in turns, so that a busy moment of the machine hits both.
// What cannot be built or is not there in one of the two is said and left out.
//
// A benchmark is slower if its median is more than the tolerance above that of the
// base and the middle halves of the samples do not overlap; unclear, if only the
// former. Among many benchmarks some will look slower by chance, so those that do
// are measured once more, and are slower only if both say so.
//
// The exit status is 0 if nothing is slower, 1 if something is or nothing could be
// measured, and 2 if the arguments make no sense.
package main
