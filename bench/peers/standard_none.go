//go:build !hotcount_synccounter

package peers

import "github.com/hotcount/hotcount/bench"

// standardCounters returns what Go's own sync package has: nothing yet. With a
// Go that has sync.Counter (golang/go#80645), build with -tags
// hotcount_synccounter.
func standardCounters() []bench.Impl { return nil }
