package snapshot

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/hotcount/hotcount/series"
)

// manyCounters returns a snapshot with n series of ten families, interleaved, as
// an engine with a family per kind of event would have them.
func manyCounters(tb testing.TB, n int) *Snapshot {
	var families [10]series.Desc
	for i := range families {
		families[i] = desc(tb, fmt.Sprintf("events_%d_total", i), "post", "kind")
	}
	now := time.Now()
	s := &Snapshot{Writer: NewWriterID(), Seq: 1, Started: now, Taken: now}
	for i := range n {
		s.Counters = append(s.Counters, CounterRow{
			Key:     families[i%len(families)].Key(fmt.Sprint("post-", i), "view"),
			Created: now.UnixNano() + int64(i)*1000,
			Value:   int64(i) * 37 % 100_003,
		})
	}
	return s
}

var benchRows = []int{10_000, 1_000_000}

func BenchmarkWriteTo(b *testing.B) {
	for _, n := range benchRows {
		b.Run(fmt.Sprint("rows=", n), func(b *testing.B) {
			s := manyCounters(b, n)
			b.ReportAllocs()
			var size int64
			for b.Loop() {
				size, _ = s.WriteTo(io.Discard)
			}
			b.SetBytes(size)
			b.ReportMetric(float64(size)/float64(n), "file-B/row")
		})
	}
}

func BenchmarkReadFrom(b *testing.B) {
	for _, n := range benchRows {
		for _, reuse := range []bool{false, true} {
			b.Run(fmt.Sprintf("rows=%d/reuse=%t", n, reuse), func(b *testing.B) {
				data := encode(b, manyCounters(b, n))
				s := new(Snapshot)
				before := liveBytes()
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if !reuse {
						s = new(Snapshot)
					}
					if _, err := s.ReadFrom(bytes.NewReader(data)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(liveBytes()-before)/float64(n), "live-B/row")
				runtime.KeepAlive(s)
				runtime.KeepAlive(data)
			})
		}
	}
}

func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
