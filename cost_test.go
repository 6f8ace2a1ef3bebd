package hotcount

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/hotcount/hotcount/snapshot"
)

// A look-up that hits allocates nothing, whatever the length of its values.
func TestLookUpAllocatesNothing(t *testing.T) {
	e := newEngine(t, Options{Limits: Limits{FamilySeries: 100}})
	vec, uniques := e.CounterVec("hits_total", "a", "b"), e.UniquesVec("users", "a", "b")
	for _, n := range []int{0, 1, 7, 8, 63, 64, 127, 128, 200, 1 << 15} {
		a, b := strings.Repeat("a", n), strings.Repeat("b", n)
		for what, f := range map[string]func(){
			"With":         func() { vec.With(a, b).Inc() },
			"Counter":      func() { e.Counter("hits_total", "b", b, "a", a).Inc() },
			"Uniques":      func() { e.Uniques("users", "a", a, "b", b) },
			"Uniques.With": func() { uniques.With(a, b) },
		} {
			assert.Zero(t, testing.AllocsPerRun(20, f), "%s with values of %d bytes", what, n)
		}
	}
}

// A snapshot into a warm buffer allocates as much for many counters as for few.
func TestWarmSnapshotAllocatesAConstant(t *testing.T) {
	allocs := func(series int) float64 {
		e := newEngine(t, Options{})
		for i := range series {
			e.Counter("views_total", "post", fmt.Sprint(i)).Inc()
		}
		var s snapshot.Snapshot
		return testing.AllocsPerRun(10, func() { e.Snapshot(&s) })
	}
	// The copies of a shard's pointers: about two for each doubling.
	assert.LessOrEqual(t, allocs(10_000), allocs(100)+20)
}

// lineOf returns which line an address is on.
func lineOf(p unsafe.Pointer) uintptr { return uintptr(p) / lineSize }

// Two counters never share a cache line, so that adds to one do not slow adds to
// the other.
func TestCountersShareNoLine(t *testing.T) {
	e := newEngine(t, Options{})
	lines := map[uintptr]string{}
	for i := range 2000 {
		c := e.Counter("views_total", "post", fmt.Sprint(i))
		first, last := lineOf(unsafe.Pointer(c)), lineOf(unsafe.Add(unsafe.Pointer(c), unsafe.Sizeof(*c)-1))
		assert.Equal(t, first, last, "%s is on one line", c.Key())
		assert.Empty(t, lines[first], "%s shares its line", c.Key())
		lines[first] = c.Key().String()
	}
}
