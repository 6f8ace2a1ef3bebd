package export_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

var requests, _ = series.NewDesc("http_requests_total", "method", "code")

// counted is about the smallest Source: one counter, never evicted.
type counted struct {
	writer snapshot.WriterID
	seq    uint64
	n      atomic.Int64
}

func (c *counted) Snapshot(s *snapshot.Snapshot) {
	c.seq++
	s.Reset()
	s.Writer, s.Seq, s.Taken = c.writer, c.seq, time.Now()
	s.Counters = append(s.Counters, snapshot.CounterRow{Key: requests.Key("GET", "200"), Value: c.n.Load()})
}

func (c *counted) Acknowledge(uint64) {}

// printer is a Sink that keeps nothing.
type printer struct{}

func (printer) Write(_ context.Context, s *snapshot.Snapshot) error {
	for _, c := range s.Counters {
		fmt.Println(c.Key, c.Value)
	}
	return nil
}

func ExampleExporter() {
	src := &counted{writer: snapshot.NewWriterID()}
	e, err := export.New(export.Options{
		Source:   src,
		Sinks:    []export.Sink{printer{}},
		Interval: time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	src.n.Add(2)
	if err := e.Flush(context.Background()); err != nil {
		fmt.Println(err)
	}
	src.n.Add(1)
	if err := e.Close(context.Background()); err != nil { // flushes what was counted since
		fmt.Println(err)
	}
	fmt.Println("snapshots:", e.Stats().Seq)
	// Output:
	// http_requests_total{method="GET",code="200"} 2
	// http_requests_total{method="GET",code="200"} 3
	// snapshots: 2
}

// unreachable is a Sink whose other end is down.
type unreachable struct{}

func (unreachable) Write(context.Context, *snapshot.Snapshot) error {
	return errors.New("connection refused")
}

func (unreachable) String() string { return "fleet" }

func ExampleUnflushedError() {
	e, err := export.New(export.Options{
		Source:   &counted{writer: snapshot.NewWriterID()},
		Sinks:    []export.Sink{unreachable{}},
		Interval: time.Hour,
		Logger:   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var left *export.UnflushedError
	if errors.As(e.Close(ctx), &left) {
		for _, s := range left.Sinks {
			fmt.Printf("%s holds snapshot %d of %d: %v\n", s.Name, s.Acked, left.Seq, s.Err)
		}
	}
	// Output: fleet holds snapshot 0 of 1: connection refused
}

// Errors of all stores are of the same kinds.
func ExampleKind() {
	err := fmt.Errorf("postgres: flush: %w: %w", export.ErrDenied, errors.New("role x may not log in"))
	switch export.Kind(err) {
	case export.ErrDenied, export.ErrSchema, export.ErrReadOnly, export.ErrFull:
		fmt.Println("somebody has to see to the store:", err)
	default:
		fmt.Println("it may pass:", err)
	}
	// Output: somebody has to see to the store: postgres: flush: access denied: role x may not log in
}

// A Source numbers its states, and is told when all sinks have one.
func ExampleSource() {
	var src export.Source = &counted{writer: snapshot.NewWriterID()}
	var s snapshot.Snapshot
	src.Snapshot(&s)
	fmt.Println(s.Seq, len(s.Counters))
	src.Acknowledge(s.Seq) // every sink has it
	// Output: 1 1
}

// A Sink is anything that takes whole states. Rows are absolute, so it may be given
// the same one twice.
func ExampleSink() {
	var sink export.Sink = printer{}
	err := sink.Write(context.Background(), &snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Counters: []snapshot.CounterRow{{Key: requests.Key("GET", "200"), Value: 7}},
	})
	fmt.Println(err)
	// Output:
	// http_requests_total{method="GET",code="200"} 7
	// <nil>
}

// How the sinks get on, for a health page.
func ExampleStats() {
	e, err := export.New(export.Options{
		Source:   &counted{writer: snapshot.NewWriterID()},
		Sinks:    []export.Sink{unreachable{}},
		Interval: time.Hour,
		Logger:   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	e.Close(ctx) // its error says the same as the stats
	st := e.Stats()
	for _, s := range st.Sinks {
		fmt.Println(s.Name, "is behind:", s.Acked < st.Seq, s.Err)
	}
	// Output: fleet is behind: true connection refused
}
