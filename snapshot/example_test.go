package snapshot_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

var requests, _ = series.NewDesc("http_requests_total", "method", "code")

func ExampleSnapshot() {
	s := snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Counters: []snapshot.CounterRow{{Key: requests.Key("GET", "200"), Value: 7}},
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

func ExampleWriterID() {
	w, err := snapshot.ParseWriterID("018bcfe568007abc9def0123456789ab")
	fmt.Println(w.Time().UTC().Format(time.RFC3339), err)
	// Output: 2023-11-14T22:13:20Z <nil>
}

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
		Gauges:  []snapshot.GaugeRow{{Key: key, Value: 0.5}},
		Windows: []snapshot.WindowRows{{Key: key, Rows: []window.Row{{Resolution: time.Minute, Start: noon, Width: time.Minute, Count: 5}}}},
		UniquesWindows: []snapshot.UniquesWindowRows{{
			Key:  key,
			Rows: []window.SketchRow{{Start: noon, Width: time.Minute, Scheme: visitors.Scheme(), Sketch: sketch}},
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
