package stripe

// Counter is a count that any number of goroutines add to and read. The zero
// Counter is zero, cold and ready; see [New] for a fixed layout. A Counter must
// not be copied after first use.
//
// Its methods may be called from any goroutine. An Add synchronizes before any
// Value or Drain that includes it.
type Counter struct {
	striped
}

// Inc adds 1.
func (c *Counter) Inc() {
	c.Add(1)
}

// Add adds n, which may be negative. It never blocks, and allocates nothing but
// the stripes, on the call that makes the counter hot.
func (c *Counter) Add(n int64) {
	if c.hot.Load() == nil {
		if sum := c.base.Add(n); c.base.Load() == sum {
			return
		}
		n = 0 // it is in base; what is left to do is to go hot
	}
	c.addHot(n)
}

// addHot adds n to a stripe, and makes the stripes if there are none yet.
func (c *Counter) addHot(n int64) {
	t := c.hot.Load()
	if t == nil {
		t = c.goHot()
	}
	if t.pick > PerP {
		t.slot().Add(n)
		return
	}
	t.at(procPin()).Add(n)
	procUnpin()
}

// Value returns the sum of all adds since the counter was made or last drained.
// It is exact when no writer is active; the package comment says what it may
// return otherwise. It costs one load for each stripe, most of them cache
// misses while writers are active; see [Total] for a cheap read.
func (c *Counter) Value() int64 {
	var sum int64
	for w := range c.cells {
		sum += w.Load()
	}
	return sum
}

// Drain returns the sum of all adds since the counter was made or last drained,
// and takes them out of the counter. Every Add is returned by exactly one Drain
// or remains for the next, whatever runs at the same time.
func (c *Counter) Drain() int64 {
	var sum int64
	for w := range c.cells {
		sum += w.Swap(0)
	}
	return sum
}
