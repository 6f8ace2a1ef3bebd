package hll

import (
	"fmt"
	"testing"
)

// BenchmarkFill fills a new sketch. An op is a whole sketch.
func BenchmarkFill(b *testing.B) {
	for _, n := range []uint64{10, 100, 1000, 5000, 10_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var s Sketch
				for i := range n {
					s.AddHash(hashOf(i))
				}
			}
		})
	}
}

// BenchmarkMergeAgain merges sketches that have been merged before. What the
// other has is all elements of the first, or the first of so many of them.
func BenchmarkMergeAgain(b *testing.B) {
	const n = 1 << 18
	for _, part := range []uint64{1, 2, 10} {
		b.Run(fmt.Sprintf("part=%d", part), func(b *testing.B) {
			whole, other := sketchOf(b, DefaultPrecision, 0, n), sketchOf(b, DefaultPrecision, 0, n/part)
			for b.Loop() {
				if err := whole.Merge(other); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
