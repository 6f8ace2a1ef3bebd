package stripe

import (
	"runtime"
	"sync/atomic"
)

// Counter is a count that any number of goroutines add to and read. The zero
// Counter is zero, cold and ready; see [New] for a fixed layout. A Counter must
// not be copied after first use.
//
// Its methods may be called from any goroutine. An Add synchronizes before any
// Value or Drain that includes it.
type Counter struct {
	base atomic.Int64
	hot  atomic.Pointer[table]
}

// Inc adds 1.
func (c *Counter) Inc() {
	c.Add(1)
}

// Add adds n, which may be negative. It never blocks and allocates nothing,
// except the stripes on the one call that makes the counter hot.
func (c *Counter) Add(n int64) {
	if c.hot.Load() == nil {
		if b := c.base.Load(); c.base.CompareAndSwap(b, b+n) {
			return
		}
	}
	c.addHot(n)
}

// addHot adds n to a stripe, and makes the stripes if there are none yet.
func (c *Counter) addHot(n int64) {
	t := c.hot.Load()
	if t == nil {
		t = c.goHot()
	}
	t.slot().Add(n)
}

// goHot publishes a table and returns it, or the one that another writer
// published first. Only a published table may be added to: what is added to one
// that loses the race is lost with it.
func (c *Counter) goHot() *table {
	t := newTable(roundUp(runtime.GOMAXPROCS(0)), Auto)
	if c.hot.CompareAndSwap(nil, t) {
		return t
	}
	return c.hot.Load()
}

// Value returns the sum of all adds since the counter was made or last drained.
// It is exact when no writer is active; the package comment says what it may
// return otherwise. It costs one load for each stripe, most of them cache
// misses while writers are active; see [Total] for a cheap read.
func (c *Counter) Value() int64 {
	s := c.base.Load()
	if t := c.hot.Load(); t != nil {
		s += t.sum()
	}
	return s
}

// Drain returns the sum of all adds since the counter was made or last drained,
// and takes them out of the counter. Every Add is returned by exactly one Drain
// or remains for the next, whatever runs at the same time.
func (c *Counter) Drain() int64 {
	s := c.base.Swap(0)
	if t := c.hot.Load(); t != nil {
		s += t.drain()
	}
	return s
}
