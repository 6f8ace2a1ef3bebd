// Package work has what the implementations of a workload share, here and in
// package peers: what they count, and where in memory they lie.
package work

// alone keeps a value off everybody else's cache lines. 256 bytes are the
// longest line of any machine Go knows.
type alone[T any] struct {
	_ [256]byte
	v T
	_ [256]byte
}

// Cells returns n zero values: a single one far from all else, so that it is
// measured at its best, several side by side as an array of a program has them.
func Cells[T any](n int) []T {
	if n == 1 {
		return (&new(alone[[1]T]).v)[:]
	}
	return make([]T, n)
}
