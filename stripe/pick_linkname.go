//go:build !hotcount_portable && !hotcount_model

package stripe

import _ "unsafe" // for go:linkname

// procPin keeps the goroutine on its P and returns the P's number, from 0 to
// GOMAXPROCS-1. procUnpin lets it go. Nothing may block, allocate or panic in
// between. The runtime keeps both reachable for the packages that have always
// used them (go.dev/issue/67401).

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
