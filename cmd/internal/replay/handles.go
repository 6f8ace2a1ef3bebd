package replay

import "github.com/hotcount/hotcount"

// A held is increments of one counter that one goroutine has not made yet.
type held struct {
	c *hotcount.Counter
	n int64
}

// A holder makes increments at its flush, those of one counter in one add. It
// is for one goroutine.
type holder struct{ pending []*held }

func (p *holder) inc(h *held) {
	if h.n == 0 {
		p.pending = append(p.pending, h)
	}
	h.n++
}

func (p *holder) flush() {
	for _, h := range p.pending {
		h.c.Add(h.n)
		h.n = 0
	}
	p.pending = p.pending[:0]
}

// handles remembers counters of one family by their label value, for one
// goroutine.
type handles struct {
	vec   *hotcount.CounterVec
	known map[string]*held
}

const (
	// maxHandles and maxHandleLength are how many handles are remembered,
	// and for values of which length. Together they bound the memory at
	// about a megabyte; what is beyond them costs a look-up in the engine.
	maxHandles      = 4096
	maxHandleLength = 256
)

func newHandles(vec *hotcount.CounterVec) handles {
	return handles{vec, make(map[string]*held)}
}

// get returns the family's counter with this label value, perhaps with
// increments that are held back. It makes no string of the value unless that is
// new to h.
func (h *handles) get(value []byte) *held {
	if c, ok := h.known[string(value)]; ok {
		return c
	}
	v := string(value)
	c := &held{c: h.vec.With(v)}
	if len(v) <= maxHandleLength && len(h.known) < maxHandles {
		h.known[v] = c
	}
	return c
}
