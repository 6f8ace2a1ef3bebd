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
