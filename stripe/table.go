package stripe

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// lineSize is how far apart two words must be for no cache line, and no unit
// of coherence, to hold both: 64 bytes on amd64, 128 on arm64 and ppc64, 256
// on s390x. Where x/sys/cpu knows of no cache (wasm) a word stands by itself.
const lineSize = max(unsafe.Sizeof(cpu.CacheLinePad{}), unsafe.Sizeof(atomic.Int64{}))

// cell is one stripe.
type cell struct {
	n atomic.Int64
	_ [lineSize - unsafe.Sizeof(atomic.Int64{})]byte
}

// table is what a hot counter has: its stripes and the rule that picks one. It
// never changes once it is published; only its cells do.
type table struct {
	cells []cell // a power of two of them
	pick  Pick
}

func newTable(stripes int, pick Pick) *table {
	return &table{cells: make([]cell, stripes), pick: pick}
}

// slot returns the cell that the caller should write to now. The index is
// masked, so it is in range whatever GOMAXPROCS has become.
func (t *table) slot() *atomic.Int64 {
	var i uint
	switch t.pick {
	case PerGoroutine:
		i = stackHash()
	case Random:
		i = draw()
	default:
		i = procID()
	}
	return &t.cells[i&uint(len(t.cells)-1)].n
}

// sum adds up the cells, one after the other.
func (t *table) sum() int64 {
	var s int64
	for i := range t.cells {
		s += t.cells[i].n.Load()
	}
	return s
}

// drain takes what is in the cells, one after the other.
func (t *table) drain() int64 {
	var s int64
	for i := range t.cells {
		s += t.cells[i].n.Swap(0)
	}
	return s
}
