package rowstream_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

func parseKey(s string) series.Key {
	key, err := series.ParseKey(s)
	if err != nil {
		log.Fatal(err)
	}
	return key
}

// messages returns what two writers have published, one message twice and out of
// order.
func messages() (out [][]byte) {
	key := parseKey(`orders_total{country="NL"}`)
	one, two := snapshot.NewWriterID(), snapshot.NewWriterID()
	for _, row := range []rowstream.Row{
		{Key: key, Writer: one, Created: 1, Seq: 8, Value: 50, Prior: 41},
		{Key: key, Writer: two, Created: 1, Seq: 1, Value: 3},
		{Key: key, Writer: one, Created: 1, Seq: 7, Value: 41},
		{Key: key, Writer: two, Created: 1, Seq: 1, Value: 3},
	} {
		data, err := rowstream.Append(nil, row)
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

func ExampleFold() {
	var totals rowstream.Fold
	for _, data := range messages() {
		m, err := rowstream.Decode(data)
		if err == nil {
			err = totals.Apply(m)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	page, err := totals.Totals(context.Background(), export.Query{})
	for _, t := range page {
		fmt.Println(t.Key, t.Value, "from", t.Writers, "writers")
	}
	fmt.Println(err)
	// Output:
	// orders_total{country="NL"} 53 from 2 writers
	// <nil>
}

func ExampleMessage() {
	m, err := rowstream.Decode(messages()[0])
	for _, row := range m.Rows {
		fmt.Println(row.Key, row.Seq, row.Value, err)
	}
	// Output: orders_total{country="NL"} 8 50 <nil>
}

func ExampleRow() {
	minute := rowstream.Row{
		Key:        parseKey("hits_total"),
		Writer:     snapshot.NewWriterID(),
		Resolution: time.Minute,
		Created:    time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).UnixNano(),
		Seq:        3,
		Value:      600,
	}
	data, err := rowstream.Append(nil, minute)
	if err != nil {
		log.Fatal(err)
	}
	m, err := rowstream.Decode(data)
	if err != nil {
		log.Fatal(err)
	}
	var windows rowstream.Fold
	if err := windows.Apply(m); err != nil {
		log.Fatal(err)
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	buckets, err := windows.Window(context.Background(), minute.Key, time.Minute, from, from.AddDate(0, 0, 1))
	for _, b := range buckets {
		fmt.Println(b.Start.UTC(), b.Count)
	}
	fmt.Println(err)
	// Output:
	// 2026-01-01 12:00:00 +0000 UTC 600
	// <nil>
}

// A row of a flush that has not ended does not count yet.
func ExampleStanding() {
	w, key := snapshot.NewWriterID(), parseKey("hits_total")
	var totals rowstream.Fold
	show := func(m rowstream.Message) {
		if err := totals.Apply(m); err != nil {
			log.Fatal(err)
		}
		page, err := totals.Totals(context.Background(), export.Query{})
		if err != nil {
			log.Fatal(err)
		}
		for _, t := range page {
			fmt.Println(t.Value)
		}
	}
	show(rowstream.Message{Standing: &rowstream.Standing{Writer: w, Standing: sinkkit.Standing{Seq: 7}}})
	show(rowstream.Message{Rows: []rowstream.Row{{Key: key, Writer: w, Created: 1, Seq: 8, Value: 50, Prior: 41}}})
	show(rowstream.Message{Standing: &rowstream.Standing{Writer: w, Standing: sinkkit.Standing{Seq: 8}}})
	// Output:
	// 41
	// 50
}
