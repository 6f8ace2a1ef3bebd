//go:build race

package snapshot

// raceFactor: under the race detector values that otherwise stay on the stack
// are allocated.
const raceFactor = 2
