package hotcount

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Keys that differ little spread over the bits that pick a shard and over those
// that pick a slot as evenly as random numbers would.
func TestHashSpreads(t *testing.T) {
	const keys, cells = 1 << 16, 1 << 6
	k := newHasher()
	for what, name := range map[string]func(i int) string{
		"numbered": func(i int) string { return fmt.Sprintf("post-%07d", i) },
		"short":    func(i int) string { return fmt.Sprint(i) },
		"packed":   func(i int) string { return string([]byte{byte(i), byte(i >> 8)}) },
		"long":     func(i int) string { return fmt.Sprintf("%040d%d", 7, i) },
		"padded":   func(i int) string { return string(make([]byte, i%1024)) + fmt.Sprint(i/1024) },
	} {
		var high, low [cells]int
		for i := range keys {
			h := k.finish(k.add(k.tail, name(i)))
			high[h>>(64-6)]++
			low[h%cells]++
		}
		// Counts of a cell are near normal, with this mean and deviation; six
		// deviations come once in 10^7 of the 640 looked at here.
		const mean = keys / cells
		bound := 6 * math.Sqrt(mean)
		for i := range cells {
			assert.InDelta(t, mean, high[i], bound, "%s: high bits %d", what, i)
			assert.InDelta(t, mean, low[i], bound, "%s: low bits %d", what, i)
		}
	}
}

// Where one value ends and the next begins matters, and so does the key.
func TestHashTellsApart(t *testing.T) {
	k := newHasher()
	seen := map[uint64]string{}
	for _, values := range [][]string{
		{}, {""}, {"", ""}, {"abc"}, {"a", "bc"}, {"ab", "c"}, {"", "abc"}, {"abc", ""},
		{"\x00"}, {"\x00\x00"}, {"a\x00"}, {"12345678"}, {"123456789"}, {"12345678", "9"}, {"1234", "56789"},
	} {
		h := uint64(1)
		for _, v := range values {
			h = k.add(h, v)
		}
		h = k.finish(h)
		assert.Empty(t, seen[h], "%q", values)
		seen[h] = fmt.Sprintf("%q", values)
	}
	other := newHasher()
	assert.NotEqual(t, k.add(0, "abc"), other.add(0, "abc"))
}
