package stripe

// # Inside
//
//	cold   Counter{ base ●  hot nil }       every add goes to base
//	hot    Counter{ base ●  hot ─┐  }       base keeps what it has
//	               table{ cells ─┴► ●……… ●……… ●……… ●……… }   one line each
//
// A cell is base or a stripe; the count is the sum of all cells. Three things
// make that true at any time, whoever runs:
//
//  1. An add changes one cell, in one atomic step, and only a cell that is
//     reachable from the Counter. A writer that finds contention publishes a
//     table first and writes to it second; if two publish, one table wins and
//     both write to that one.
//  2. Nothing moves between cells. Going hot copies nothing, so no reader sees
//     a count twice or not at all, and a single cell's reads only go up.
//  3. Drain takes each cell with a swap. Nothing stores over a live cell.
//
// The model check (hotcount_model) runs this code through every interleaving
// of a few writers, readers and drainers, and fails when one of them is broken.
//
// How a cold counter notices contention: an atomic add cannot fail, so after
// some of its adds (see look) a writer reads base back. If it finds other than
// what its add made, another writer came in between. The usual way is to
// compare and swap, and to go hot when that fails; it is dearer for the many
// counters that are never contended (the load before it, and the wait for it),
// and it notices no more than we need. Reading back after every add is dearer
// still: a load that follows an atomic add waits for it.
//
// How a hot counter picks: the number of the P, from runtime.procPin, the one
// pick under which no two writers share a line for long. The hash of a
// goroutine's stack address is cheaper, but two goroutines that collide do so
// for life; a hash of the M collides as often; a random draw makes every line
// travel. The pin is kept over the add, which costs nothing and saves being
// moved in between; the add is atomic all the same, because a P's number is
// masked and because Drain swaps.
//
// Limits: the table is made once, for the GOMAXPROCS of that moment. If that
// grows, several Ps share a stripe: slower, not wrong. Two cold counters on one
// cache line, each with one writer, slow each other down and never notice.

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
		sum := c.base.Add(n)
		if !look(sum) || c.base.Load() == sum {
			return
		}
		n = 0 // it is in base already: what is left to do is to go hot
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
