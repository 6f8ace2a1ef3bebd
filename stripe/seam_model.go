//go:build hotcount_model

package stripe

// op runs one operation on shared memory and returns its result. The model
// check replaces it, to choose who runs next and to see what came out.
var op = func(do func() int64) int64 { return do() }

// word stands in for atomic.Int64.
type word struct{ n int64 }

func (w *word) Load() int64 {
	return op(func() int64 { return w.n })
}

func (w *word) Add(n int64) int64 {
	return op(func() int64 { w.n += n; return w.n })
}

func (w *word) Swap(n int64) int64 {
	return op(func() int64 { old := w.n; w.n = n; return old })
}

func (w *word) Store(n int64) {
	op(func() int64 { w.n = n; return 0 })
}

func (w *word) CompareAndSwap(old, n int64) bool {
	return op(func() int64 {
		if w.n != old {
			return 0
		}
		w.n = n
		return 1
	}) == 1
}

// tablePtr stands in for atomic.Pointer[table].
type tablePtr struct{ t *table }

func (p *tablePtr) Load() *table {
	var t *table
	op(func() int64 { t = p.t; return tableID(t) })
	return t
}

func (p *tablePtr) Store(t *table) {
	op(func() int64 { p.t = t; return tableID(t) })
}

func (p *tablePtr) CompareAndSwap(old, t *table) bool {
	return op(func() int64 {
		if p.t != old {
			return 0
		}
		p.t = t
		return tableID(t)
	}) != 0
}

// tableID numbers tables in the order in which the model sees them; 0 is nil.
var tableID = func(t *table) int64 {
	if t == nil {
		return 0
	}
	return 1
}

// procPin is the number of the modelled P.
var procPin = func() int { return 0 }

func procUnpin() {}

// lookBits makes a cold counter look for contention after every add.
const lookBits = 0
