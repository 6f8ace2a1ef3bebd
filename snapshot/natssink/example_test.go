package natssink_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot/natssink"
)

func Example() {
	ctx := context.Background()
	nc, err := nats.Connect("nats://127.0.0.1:4222", nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := js.CreateOrUpdateStream(ctx, natssink.StreamConfig("COUNTS")); err != nil {
		log.Fatal(err)
	}
	sink, err := natssink.New(natssink.Options{JetStream: js, Stream: "COUNTS"})
	if err != nil {
		log.Fatal(err)
	}
	e, err := hotcount.New(hotcount.Options{
		Dir:   "data",              // what a crash leaves is handed on from here
		Sinks: []export.Sink{sink}, // every 10 s
	})
	if err != nil {
		log.Fatal(err)
	}
	e.Counter("orders_total", "country", "NL").Inc()
	if err := e.Close(ctx); err != nil {
		log.Print(err)
	}
}

func ExampleStreamConfig() {
	config := natssink.StreamConfig("COUNTS")
	config.Replicas = 3
	config.MaxBytes = 10 << 30
	fmt.Println(config.Subjects, config.MaxMsgsPerSubject, config.Discard)
	// Output: [COUNTS.>] 1 DiscardNew
}

func ExampleNew() {
	nc, err := nats.Connect("nats://127.0.0.1:1", nats.RetryOnFailedConnect(true))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	sink, err := natssink.New(natssink.Options{JetStream: js, Stream: "COUNTS"})
	fmt.Println(sink, err)
	_, err = natssink.New(natssink.Options{JetStream: js, Stream: "a.b"})
	fmt.Println(err)
	// Output:
	// nats COUNTS <nil>
	// hotcount/natssink: Options.Stream "a.b" is not made of letters, digits, _ and -
}

// Every few minutes what processes that are gone have left is added up.
func ExampleSink_Compact() {
	nc, err := nats.Connect("nats://127.0.0.1:4222", nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	sink, err := natssink.New(natssink.Options{JetStream: js, Stream: "COUNTS"})
	if err != nil {
		log.Fatal(err)
	}
	for range time.Tick(5 * time.Minute) {
		done, err := sink.Compact(context.Background(), time.Hour)
		log.Print(done.Writers, " writers with ", done.Rows, " rows: ", err)
	}
}

// Buckets of windows go to a stream of their own and are kept for a week.
func ExampleWindowsConfig() {
	config := natssink.WindowsConfig("WINDOWS", 7*24*time.Hour)
	fmt.Println(config.Subjects, config.MaxAge)
	// Output: [WINDOWS.>] 168h0m0s
}

// A processor keeps totals in memory and looks at them as often as it likes.
func ExampleSink_Follow() {
	nc, err := nats.Connect("nats://127.0.0.1:4222", nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		log.Fatal(err)
	}
	sink, err := natssink.New(natssink.Options{JetStream: js, Stream: "COUNTS"})
	if err != nil {
		log.Fatal(err)
	}
	var totals rowstream.Fold
	err = sink.Follow(context.Background(), &totals, func() {
		page, err := totals.Totals(context.Background(), export.Query{Prefix: "orders_total{"})
		fmt.Println(page, err)
	})
	log.Print(err)
}
