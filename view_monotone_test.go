package hotcount_test

import (
	"fmt"
	"testing"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
)

// Beside adds, deletes and snapshots, the runs of one row never decrease while
// all adds are positive.
func TestViewsBesideWritersAreMonotone(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	enginetest.Monotone(t, e, func() map[string]float64 {
		var v hotcount.View
		e.View(&v)
		runs := make(map[string]float64)
		for _, c := range v.Counters {
			runs[fmt.Sprint(c.Key(), c.Created.UnixNano())] = float64(c.Run)
		}
		return runs
	})
}
