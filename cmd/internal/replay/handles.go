package replay

import "github.com/hotcount/hotcount"

// handles remembers counters of one family by their label value, for one
// goroutine.
type handles struct {
	vec   *hotcount.CounterVec
	known map[string]*hotcount.Counter
}

const (
	// maxHandles and maxHandleLength are how many handles are remembered,
	// and for values of which length. Together they bound the memory at
	// about a megabyte; what is beyond them costs a look-up in the engine.
	maxHandles      = 4096
	maxHandleLength = 256
)

func newHandles(vec *hotcount.CounterVec) handles {
	return handles{vec, make(map[string]*hotcount.Counter)}
}

// get returns the family's counter with this label value. It makes no string of
// it unless the value is new to h.
func (h *handles) get(value []byte) *hotcount.Counter {
	if c, ok := h.known[string(value)]; ok {
		return c
	}
	v := string(value)
	c := h.vec.With(v)
	if len(v) <= maxHandleLength && len(h.known) < maxHandles {
		h.known[v] = c
	}
	return c
}
