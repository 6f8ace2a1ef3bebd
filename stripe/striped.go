package stripe

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// lineSize is how far apart two words must be for no cache line, and no unit
// of coherence, to hold both: 64 bytes on amd64, 128 on arm64 and ppc64, 256
// on s390x. Where x/sys/cpu knows of no cache (wasm) a word stands by itself.
const lineSize = max(unsafe.Sizeof(cpu.CacheLinePad{}), wordSize)

const wordSize = unsafe.Sizeof(word{})

// cell is one stripe: a word with a cache line to itself.
type cell struct {
	n word
	_ [lineSize - wordSize]byte
}

// table is what a hot counter has besides its base: its stripes and the rule
// that picks one. Only its cells change once it is published. It fills a cache
// line, because every write reads it: a neighbour that is written often would
// slow all of them down.
type table struct {
	cells []cell // a power of two of them, so the allocator aligns the first
	pick  Pick
	_     [tablePad]byte
}

const (
	tableFields = unsafe.Sizeof([]cell(nil)) + unsafe.Sizeof(uintptr(0))
	tablePad    = (lineSize - tableFields%lineSize) % lineSize
)

func newTable(stripes int, pick Pick) *table {
	return &table{cells: make([]cell, stripes), pick: pick}
}

// at returns the cell for index i, which is masked: a P's number is in range
// whatever GOMAXPROCS has become since the table was made.
func (t *table) at(i int) *word {
	return &t.cells[i&(len(t.cells)-1)].n
}

// slot returns the cell that the caller should write to now.
func (t *table) slot() *word {
	switch t.pick {
	case PerGoroutine:
		return t.at(stackHash())
	case Random:
		return t.at(draw())
	}
	i := procPin()
	procUnpin()
	return t.at(i)
}

// striped is the memory of a counter or an accumulator: a base that is written
// while cold and a table that is written once hot.
type striped struct {
	base word
	hot  tablePtr
}

// goHot publishes a table and returns it, or the one that another writer
// published first. Only a published table may be written to: what goes into
// one that loses this race is lost with it.
func (s *striped) goHot() *table {
	t := newTable(roundUp(runtime.GOMAXPROCS(0)), Auto)
	if s.hot.CompareAndSwap(nil, t) {
		return t
	}
	return s.hot.Load()
}

// cells yields the base and then every stripe there is. Those that appear
// meanwhile are left for the next read.
func (s *striped) cells(yield func(*word) bool) {
	if !yield(&s.base) {
		return
	}
	t := s.hot.Load()
	if t == nil {
		return
	}
	for i := range t.cells {
		if !yield(&t.cells[i].n) {
			return
		}
	}
}
