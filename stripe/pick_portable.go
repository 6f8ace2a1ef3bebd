//go:build hotcount_portable && !hotcount_model

package stripe

// procPin stands in for the number of the P, which the portable build has no
// way to ask for.
func procPin() int { return stackHash() }

// procUnpin has nothing to undo.
func procUnpin() {}
