package hotcount

// A Batch collects increments and applies them together, or not at all: count
// what a database transaction does into one, Commit it when the transaction
// commits, Discard it when that rolls back. Increments of one counter are merged
// to a single add. The zero Batch is empty and ready to use. It is not safe for
// concurrent use; the counters it adds to are.
//
// The adds of one Commit are not atomic together: a snapshot taken meanwhile may
// hold some of them. Each is in the next one.
type Batch struct {
	adds []batchAdd
	at   map[*Counter]int // where in adds; nil while they are few
}

type batchAdd struct {
	c *Counter
	n int64
}

// batchScan is up to how many counters are searched by a scan. That many
// entries are four cache lines, and walking them costs about one map access.
const batchScan = 16

// Inc collects an increment of c by one.
func (b *Batch) Inc(c *Counter) { b.Add(c, 1) }

// Add collects an increment of c by n. It panics if c is nil.
func (b *Batch) Add(c *Counter, n int64) {
	if c == nil {
		panic("hotcount: Batch.Add of a nil Counter")
	}
	if i := b.find(c); i >= 0 {
		b.adds[i].n += n
		return
	}
	b.adds = append(b.adds, batchAdd{c, n})
	switch {
	case b.at != nil:
		b.at[c] = len(b.adds) - 1
	case len(b.adds) > batchScan:
		b.at = make(map[*Counter]int, 2*batchScan)
		for i, a := range b.adds {
			b.at[a.c] = i
		}
	}
}

func (b *Batch) find(c *Counter) int {
	if b.at != nil {
		if i, ok := b.at[c]; ok {
			return i
		}
		return -1
	}
	for i := range b.adds {
		if b.adds[i].c == c {
			return i
		}
	}
	return -1
}

// Len returns the number of counters that Commit would add to.
func (b *Batch) Len() int { return len(b.adds) }

// Commit adds what was collected, each counter's increments as one add, and
// empties the batch.
func (b *Batch) Commit() {
	for _, a := range b.adds {
		a.c.Add(a.n)
	}
	b.Discard()
}

// Discard empties the batch and adds nothing. Its memory is kept for reuse.
func (b *Batch) Discard() {
	clear(b.adds) // let go of the counters
	b.adds = b.adds[:0]
	clear(b.at)
}
