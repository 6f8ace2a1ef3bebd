//go:build !hotcount_portable

package stripe

import _ "unsafe" // for go:linkname

// procPin keeps the goroutine on its P and returns the P's number, 0 up to but
// without GOMAXPROCS; procUnpin lets it go. The runtime keeps both reachable
// for the packages that always used them (go.dev/issue/67401).

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// procID returns the number of the P the caller runs on. The caller may be
// elsewhere a moment later: that costs a shared cache line once, and no count.
func procID() uint {
	id := procPin()
	procUnpin()
	return uint(id)
}
