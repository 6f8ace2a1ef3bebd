//go:build !hotcount_model

package stripe

import "sync/atomic"

// word and tablePtr are all the memory that goroutines share in this package.
// Under the hotcount_model tag they are twins that hand control to a scheduler
// before each operation, so that the model check runs the code that ships.
type (
	word     = atomic.Int64
	tablePtr = atomic.Pointer[table]
)
