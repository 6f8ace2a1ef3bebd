// Command tables writes the tables of a benchmark's result file into pages:
//
//	tables -from RESULTS FILE…
//
// In each FILE it replaces what is between lines such as
//
//	<!-- bench:begin add -->
//	<!-- bench:end add -->
//
// by the section of that name, and nothing else. "go generate" runs it on the
// README and docs/benchmarks.md with the results that are committed, and equal
// results make equal pages, so that a number in them cannot drift from its
// measurement. Above every table it says what was measured, where, when and how.
package main

//go:generate go run . -from ../results/reference.json ../../README.md ../../docs/benchmarks.md
