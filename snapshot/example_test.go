package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

var requests, _ = snapshot.NewDesc("http_requests_total", "method", "code")

func ExampleSnapshot() {
	s := snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Counters: []snapshot.Counter{{Key: requests.Key("GET", "200"), Value: 7}},
	}
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		fmt.Println(err)
	}

	var back snapshot.Snapshot
	if _, err := back.ReadFrom(&file); err != nil {
		fmt.Println(err)
	}
	for _, c := range back.Counters {
		fmt.Println(c.Key, c.Value)
	}
	// Output: http_requests_total{method="GET",code="200"} 7
}

func ExampleKey() {
	k := requests.Key("GET", "200")
	fmt.Println(k.Name(), k.Label("code"))
	for name, value := range k.Labels() {
		fmt.Println(name, "=", value)
	}
	// Output:
	// http_requests_total 200
	// method = GET
	// code = 200
}

func ExampleDesc() {
	d, err := snapshot.NewDesc("http_requests_total", "method", "code")
	fmt.Println(d.Name(), d.Labels(), err)
	_, err = snapshot.NewDesc("http-requests")
	fmt.Println(err)
	// Output:
	// http_requests_total [method code] <nil>
	// hotcount/snapshot: invalid name: metric "http-requests" does not match [a-zA-Z_:][a-zA-Z0-9_:]*
}

func ExampleWriterID() {
	w, err := snapshot.ParseWriterID("018bcfe568007abc9def0123456789ab")
	fmt.Println(w.Time().UTC().Format(time.RFC3339), err)
	// Output: 2023-11-14T22:13:20Z <nil>
}

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
	s.Counters = append(s.Counters, snapshot.Counter{Key: requests.Key("GET", "200"), Value: c.n.Load()})
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
	e, err := snapshot.NewExporter(snapshot.ExporterOptions{
		Source: src,
		Sinks:  []snapshot.Sink{printer{}},
		Every:  time.Hour,
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
	e, err := snapshot.NewExporter(snapshot.ExporterOptions{
		Source: &counted{writer: snapshot.NewWriterID()},
		Sinks:  []snapshot.Sink{unreachable{}},
		Every:  time.Hour,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var left *snapshot.UnflushedError
	if errors.As(e.Close(ctx), &left) {
		for _, s := range left.Sinks {
			fmt.Printf("%s holds snapshot %d of %d: %v\n", s.Name, s.Acked, left.Seq, s.Err)
		}
	}
	// Output: fleet holds snapshot 0 of 1: connection refused
}

func ExampleTerminal() {
	err := fmt.Errorf("sink: %w", snapshot.Terminal(errors.New("no such database")))
	fmt.Println(err, snapshot.IsTerminal(err))
	// Output: sink: no such database true
}

// A Mirror and a BucketMirror pick what a store lacks. This store forgets nothing,
// and has one writer.
func ExampleBucketMirror() {
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: noon}
	rows := []window.Row{
		{Resolution: time.Minute, Start: noon.UnixNano(), Width: time.Minute, Count: 5},
		{Resolution: time.Minute, Start: noon.Add(time.Minute).UnixNano(), Width: time.Second, Count: 1},
	}
	s.Windows = []snapshot.Window{{Key: requests.Key("GET", "200"), Rows: rows}}

	var mirror snapshot.Mirror
	var buckets snapshot.BucketMirror
	var standing snapshot.Standing // what the store says of the writer
	for range 2 {
		s.Seq++
		mirror.Follow(s)
		if step, err := mirror.Settle(standing); step != snapshot.Send {
			fmt.Println(step, err)
			return
		}
		mirror.Pick(s)
		for _, b := range buckets.Pick(&mirror, s) {
			fmt.Println("snapshot", s.Seq, time.Unix(0, b.Start).UTC().Format(time.TimeOnly), b.Count)
		}
		standing = snapshot.Standing{Seq: s.Seq, Mark: mirror.Mark()}
		mirror.Hold(s)
		rows[1].Count++ // in the bucket that goes on
	}
	// Output:
	// snapshot 1 12:00:00 5
	// snapshot 1 12:01:00 1
	// snapshot 2 12:01:00 2
}

func ExampleSource() {
	var src snapshot.Source = &counted{writer: snapshot.NewWriterID()}
	var s snapshot.Snapshot
	src.Snapshot(&s)
	fmt.Println(s.Seq, len(s.Counters))
	src.Acknowledge(s.Seq) // every sink has it
	// Output: 1 1
}

// A Sink is anything that takes whole states. Rows are absolute, so it may be given
// the same one twice.
func ExampleSink() {
	var sink snapshot.Sink = printer{}
	err := sink.Write(context.Background(), &snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Counters: []snapshot.Counter{{Key: requests.Key("GET", "200"), Value: 7}},
	})
	fmt.Println(err)
	// Output:
	// http_requests_total{method="GET",code="200"} 7
	// <nil>
}

// How the sinks get on, for a health page.
func ExampleExporterStats() {
	e, err := snapshot.NewExporter(snapshot.ExporterOptions{
		Source: &counted{writer: snapshot.NewWriterID()},
		Sinks:  []snapshot.Sink{unreachable{}},
		Every:  time.Hour,
		Logger: slog.New(slog.DiscardHandler),
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

// Beside counters a snapshot has sketches, gauges, windows, and whose rows it sums.
func ExampleSnapshot_rows() {
	visitors, err := hll.New(hll.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	visitors.AddString("10.0.0.1")
	sketch, err := visitors.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC).UnixNano()
	key := requests.Key("GET", "200")

	s := snapshot.Snapshot{ // by the zero writer, so a sum
		Seq:     1,
		Folded:  []snapshot.Fold{{Writer: snapshot.NewWriterID(), Seq: 3}},
		Gauges:  []snapshot.Gauge{{Key: key, Value: 0.5}},
		Windows: []snapshot.Window{{Key: key, Rows: []window.Row{{Resolution: time.Minute, Start: noon, Width: time.Minute, Count: 5}}}},
		UniquesWindows: []snapshot.UniquesWindow{{
			Key:  key,
			Rows: []window.UniquesRow{{Start: noon, Width: time.Minute, Scheme: visitors.Scheme(), Sketch: sketch}},
		}},
	}
	s.AppendUniques(key, noon, visitors)
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		fmt.Println(err)
	}

	var back snapshot.Snapshot
	if _, err := back.ReadFrom(&file); err != nil {
		fmt.Println(err)
	}
	fmt.Println("sums up to", back.Folded[0].Seq)
	fmt.Println("gauge", back.Gauges[0].Value)
	fmt.Println("window", back.Windows[0].Rows[0].Count)
	fmt.Println("sketches", len(back.Uniques), len(back.UniquesWindows))
	// Output:
	// sums up to 3
	// gauge 0.5
	// window 5
	// sketches 1 1
}
