//go:build hotcount_portable

package stripe

// procID stands in for the number of the P, which the portable build has no
// way to ask for.
func procID() uint {
	return stackHash()
}
