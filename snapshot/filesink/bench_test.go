package filesink

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

var benchRows = []int{10_000, 1_000_000}

func counters(b *testing.B, rows int) *snapshot.Snapshot {
	d := desc(b, "http_requests_total", "path", "code")
	now := time.Now()
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1, Started: now, Taken: now}
	for i := range rows {
		s.Counters = append(s.Counters, snapshot.CounterRow{
			Key:     d.Key(fmt.Sprintf("/posts/%07d", i), "200"),
			Created: now.UnixNano() + int64(i),
			Value:   int64(i),
		})
	}
	return s
}

func benchOpen(b *testing.B, dir string) *Sink {
	k, err := Open(Options{Dir: dir, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// BenchmarkWrite makes a snapshot durable in the default three generations.
func BenchmarkWrite(b *testing.B) {
	for _, rows := range benchRows {
		b.Run(fmt.Sprint("rows=", rows), func(b *testing.B) {
			k := benchOpen(b, b.TempDir())
			defer k.Close()
			s := counters(b, rows)
			for b.Loop() {
				if err := k.Write(context.Background(), s); err != nil {
					b.Fatal(err)
				}
				s.Seq++
			}
		})
	}
}

// BenchmarkRestart is what a start costs: Open on what the last run left, and
// the Fold of it.
func BenchmarkRestart(b *testing.B) {
	for _, rows := range benchRows {
		b.Run(fmt.Sprint("rows=", rows), func(b *testing.B) {
			dir := b.TempDir()
			s := counters(b, rows)
			for b.Loop() {
				b.StopTimer()
				k := benchOpen(b, dir)
				s.Writer = snapshot.NewWriterID()
				if err := k.Write(context.Background(), s); err != nil {
					b.Fatal(err)
				}
				k.Close()
				b.StartTimer()
				k = benchOpen(b, dir)
				if err := k.Fold(s.Writer); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				k.Close()
				b.StartTimer()
			}
		})
	}
}
