//go:build !hotcount_model

package stripe

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// A cold counter is two words of 8 bytes, on 32-bit machines too.
var _ [16]byte = [unsafe.Sizeof(Counter{})]byte{}

// linesOf returns the first and the last cache line of an object.
func linesOf(p unsafe.Pointer, size uintptr) (first, last uintptr) {
	return uintptr(p) / lineSize, (uintptr(p) + size - 1) / lineSize
}

// owners says who lies on a cache line.
type owners map[uintptr]string

// claim fails the test if somebody else has a line of this object.
func (o owners) claim(t *testing.T, who string, p unsafe.Pointer, size uintptr) {
	t.Helper()
	first, last := linesOf(p, size)
	for line := first; line <= last; line++ {
		if other, taken := o[line]; taken {
			t.Errorf("%s and %s share a cache line", who, other)
		}
		o[line] = who
	}
}

// What different goroutines write, and what every write reads, is on cache
// lines of its own, however many are made one after the other.
func TestNoTwoOnOneLine(t *testing.T) {
	var (
		lines = owners{}
		alive []any
	)
	for range 100 {
		for _, stripes := range []int{1, 2, 4, 64, 1024} {
			table := newTable(stripes, PerP)
			alive = append(alive, table)
			lines.claim(t, "table", unsafe.Pointer(table), unsafe.Sizeof(*table))
			for i := range table.cells {
				lines.claim(t, "stripe", unsafe.Pointer(&table.cells[i].n), wordSize)
			}
		}
		l := new(Counter).Local(1)
		alive = append(alive, l)
		lines.claim(t, "local", unsafe.Pointer(l), unsafe.Sizeof(*l))
		for _, k := range []int{1, 3, 7, 8, 40} {
			g := NewGroup(k)
			alive = append(alive, g)
			for i := range len(g.lines) / g.stride {
				lock, sums := g.stripe(i)
				lines.claim(t, "group", unsafe.Pointer(lock), uintptr(1+len(sums))*wordSize)
			}
		}
	}
	assert.NotEmpty(t, alive)
}

// An update of a small group touches one line.
func TestSmallGroupIsOneLine(t *testing.T) {
	g := NewGroup(int(min(lineSize, 64)/wordSize) - 1)
	for i := range len(g.lines) / g.stride {
		lock, sums := g.stripe(i)
		first, last := linesOf(unsafe.Pointer(lock), uintptr(1+len(sums))*wordSize)
		assert.Equal(t, first, last)
	}
}

func TestHotMemory(t *testing.T) {
	assert.Zero(t, unsafe.Sizeof(cell{})%lineSize)
	assert.Equal(t, max(lineSize, wordSize), unsafe.Sizeof(cell{}), "a stripe is one line")
	assert.Zero(t, unsafe.Sizeof(table{})%lineSize)
	assert.LessOrEqual(t, tableFields, unsafe.Sizeof(table{}))
}
