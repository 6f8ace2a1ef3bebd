//go:build !hotcount_model

package stripe

import "sync/atomic"

// word and tablePtr are all the memory that counters share between goroutines.
// Under the hotcount_model tag they are twins that let a scheduler run another
// goroutine before each operation, so that the model check runs the code that
// ships.
type (
	word     = atomic.Int64
	tablePtr = atomic.Pointer[table]
)

// lookBits says how often a cold counter looks for contention: after one add
// in 2^lookBits. A look costs about as much as the add, so one in 16 is lost
// among the rest, and writers that do fight meet many looks in a millisecond.
const lookBits = 4
