package rowstream_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/rowstream"
)

// messages returns what two writers have published, one of its rows twice and out
// of order.
func messages() (out [][]byte) {
	key, err := snapshot.ParseKey(`orders_total{country="NL"}`)
	if err != nil {
		log.Fatal(err)
	}
	one, two := snapshot.NewWriterID(), snapshot.NewWriterID()
	for _, row := range []rowstream.Row{
		{Key: key, Writer: one, Created: 1, Seq: 8, Value: 50},
		{Key: key, Writer: two, Created: 1, Seq: 1, Value: 3},
		{Key: key, Writer: one, Created: 1, Seq: 7, Value: 41},
		{Key: key, Writer: two, Created: 1, Seq: 1, Value: 3},
	} {
		data, err := row.AppendBinary(nil)
		if err != nil {
			log.Fatal(err)
		}
		out = append(out, data)
	}
	return out
}

func ExampleFold() {
	var totals rowstream.Fold
	for _, message := range messages() {
		row, err := rowstream.Decode(message)
		if err == nil {
			err = totals.Apply(row)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	page, err := totals.Totals(context.Background(), snapshot.Query{})
	for _, t := range page {
		fmt.Println(t.Key, t.Value, "from", t.Writers, "writers")
	}
	fmt.Println(err)
	// Output:
	// orders_total{country="NL"} 53 from 2 writers
	// <nil>
}

func ExampleRow() {
	row, err := rowstream.Decode(messages()[0])
	fmt.Println(row.Key, row.Seq, row.Value, err)
	// Output: orders_total{country="NL"} 8 50 <nil>
}
