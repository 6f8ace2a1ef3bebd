// Package peers measures hotcount beside the counters people use today. All of
// it is in benchmarks; there is nothing to import.
package peers
