package peers

import (
	"testing"

	"github.com/hotcount/hotcount/bench"
)

// BenchmarkWindowAdd adds to what knows its last minute, by a goroutine for each
// P. atomic-without knows nothing but its total.
func BenchmarkWindowAdd(b *testing.B) {
	for _, impl := range impls("window") {
		b.Run("impl="+impl.Name, func(b *testing.B) {
			c := mustMake(impl, bench.Layout{Keys: 1})
			if w, ok := c.(bench.Worker); ok {
				defer w.Close()
			}
			b.ReportAllocs()
			b.ResetTimer()
			onAllPs(b, c.Incs)
		})
	}
}

// BenchmarkWindowLast asks for the last minute.
func BenchmarkWindowLast(b *testing.B) {
	for _, impl := range impls("window") {
		if impl.Unreadable {
			continue
		}
		b.Run("impl="+impl.Name, func(b *testing.B) {
			c := mustMake(impl, bench.Layout{Keys: 1})
			if w, ok := c.(bench.Worker); ok {
				defer w.Close()
			}
			c.Incs(1)
			b.ReportAllocs()
			repeat(b, c, bench.ReadOf(0))
		})
	}
}
