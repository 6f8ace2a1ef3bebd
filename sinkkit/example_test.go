package sinkkit_test

import (
	"fmt"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

var requests, _ = series.NewDesc("http_requests_total", "method", "code")

func ExampleBucketMirror() {
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: noon}
	rows := []window.Row{
		{Resolution: time.Minute, Start: noon.UnixNano(), Width: time.Minute, Count: 5},
		{Resolution: time.Minute, Start: noon.Add(time.Minute).UnixNano(), Width: time.Second, Count: 1},
	}
	s.Windows = []snapshot.WindowRows{{Key: requests.Key("GET", "200"), Rows: rows}}

	var mirror sinkkit.Mirror
	var buckets sinkkit.BucketMirror
	var standing sinkkit.Standing // what the store says of the writer
	for range 2 {
		s.Seq++
		mirror.Follow(s)
		if step, err := mirror.Settle(standing); step != sinkkit.Send {
			fmt.Println(step, err)
			return
		}
		mirror.Pick(s)
		for _, b := range buckets.Pick(&mirror, s) {
			fmt.Println("snapshot", s.Seq, time.Unix(0, b.Start).UTC().Format(time.TimeOnly), b.Count)
		}
		standing = sinkkit.Standing{Seq: s.Seq, Mark: mirror.Mark()}
		mirror.Hold(s)
		rows[1].Count++ // in the bucket that goes on
	}
	// Output:
	// snapshot 1 12:00:00 5
	// snapshot 1 12:01:00 1
	// snapshot 2 12:01:00 2
}

func ExampleMirror() {
	s := &snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Counters: []snapshot.CounterRow{{Key: requests.Key("GET", "200"), Value: 7}},
	}
	var m sinkkit.Mirror
	var standing sinkkit.Standing // what the store says of the writer

	flush := func() (sent []snapshot.CounterRow) {
		m.Follow(s)
		if step, err := m.Settle(standing); step != sinkkit.Send {
			fmt.Println(step, err)
			return nil
		}
		sent, _ = m.Pick(s)
		standing = sinkkit.Standing{Seq: s.Seq, Mark: m.Mark()}
		return sent
	}
	for _, r := range flush() {
		fmt.Println("first:", r.Key, r.Value)
	}
	s.Seq = 2
	s.Counters = append(s.Counters, snapshot.CounterRow{Key: requests.Key("GET", "404"), Value: 1})
	for _, r := range flush() { // the mark says that the first one arrived
		fmt.Println("second:", r.Key, r.Value)
	}
	m.Hold(s)
	// Output:
	// first: http_requests_total{method="GET",code="200"} 7
	// second: http_requests_total{method="GET",code="404"} 1
}

func ExampleMark() {
	var none sinkkit.Mark
	fmt.Println(none.IsZero(), sinkkit.NewMark().IsZero())
	// Output: true false
}
