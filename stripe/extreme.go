package stripe

// Max keeps the largest value observed since it was made or last drained. The
// zero Max is empty and ready. It must not be copied after first use.
//
// An observation that is no new maximum of its stripe writes nothing, so Max
// costs about one load once it has seen the large values. Its methods may be
// called from any goroutine. An Observe synchronizes before any Value or Drain
// that returns its value.
//
// math.MinInt64 cannot be told from nothing; observing it changes nothing.
type Max struct {
	e extreme
}

// Observe takes v into account.
func (m *Max) Observe(v int64) {
	m.e.raise(rank(v, up))
}

// Value returns the largest value observed, and whether there was any; v is 0
// if not. It takes into account every Observe that returned before the call,
// and any number of those that run meanwhile.
func (m *Max) Value() (v int64, ok bool) {
	return unrank(m.e.top(), up)
}

// Drain returns what Value does and leaves the Max empty. Every observation is
// taken into account by exactly one Drain, or remains for the next, unless a
// larger one of the same stripe stood in for it.
func (m *Max) Drain() (v int64, ok bool) {
	return unrank(m.e.drain(), up)
}

// Min keeps the smallest value observed since it was made or last drained. In
// all else it is as [Max] is; what it cannot tell from nothing is
// math.MaxInt64.
type Min struct {
	e extreme
}

// Observe takes v into account.
func (m *Min) Observe(v int64) {
	m.e.raise(rank(v, down))
}

// Value returns the smallest value observed, and whether there was any, as
// [Max.Value] does.
func (m *Min) Value() (v int64, ok bool) {
	return unrank(m.e.top(), down)
}

// Drain returns what Value does and leaves the Min empty, as [Max.Drain] does.
func (m *Min) Drain() (v int64, ok bool) {
	return unrank(m.e.drain(), down)
}

// up and down say which way a rank goes. They are masks, because flipping all
// bits of an int64 reverses the order: a minimum is a maximum of complements.
const (
	up   int64 = 0
	down int64 = -1
)

// rank maps the int64s onto the uint64s in order, so that the zero word ranks
// lowest and means empty.
func rank(v, way int64) uint64 {
	return uint64(v^way) ^ 1<<63
}

// unrank is the inverse of rank; it gives 0 and false for an empty word.
func unrank(r uint64, way int64) (v int64, ok bool) {
	if r == 0 {
		return 0, false
	}
	return int64(r^1<<63) ^ way, true
}

// extreme keeps the highest rank in striped words.
type extreme struct {
	striped
}

// raise makes r the rank of a cell, unless the cell has a higher one.
func (e *extreme) raise(r uint64) {
	t := e.hot.Load()
	if t == nil {
		if b := e.base.Load(); r <= uint64(b) || e.base.CompareAndSwap(b, int64(r)) {
			return
		}
		t = e.goHot()
	}
	w := t.slot()
	for {
		b := w.Load()
		if r <= uint64(b) || w.CompareAndSwap(b, int64(r)) {
			return
		}
	}
}

// top returns the highest rank of all cells, read one after the other.
func (e *extreme) top() uint64 {
	var r uint64
	for w := range e.cells {
		r = max(r, uint64(w.Load()))
	}
	return r
}

// drain returns the highest rank and leaves every cell empty.
func (e *extreme) drain() uint64 {
	var r uint64
	for w := range e.cells {
		r = max(r, uint64(w.Swap(0)))
	}
	return r
}
