package kafkasink_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot/kafkasink"
)

// cluster returns a client of a broker for tests, and what closes both.
func cluster() (*kgo.Client, func()) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		log.Fatal(err)
	}
	if err := broker.CreateTopic("counts", 3, map[string]string{
		"cleanup.policy":         "compact",
		"message.timestamp.type": "LogAppendTime",
	}); err != nil {
		log.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...))
	if err != nil {
		log.Fatal(err)
	}
	return client, func() { client.Close(); broker.Close() }
}

// A process counts, and the totals of all are read back.
func Example() {
	client, closeAll := cluster()
	defer closeAll()
	sink, err := kafkasink.New(kafkasink.Options{Client: client, Topic: "counts"})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Close()
	e, err := hotcount.New(hotcount.Options{Sinks: []export.Sink{sink}})
	if err != nil {
		log.Fatal(err)
	}
	e.Counter("orders_total", "country", "NL").Add(3)
	if err := e.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
	page, err := sink.Totals(context.Background(), export.Query{Prefix: "orders_total{"})
	for _, total := range page {
		fmt.Println(total.Key, total.Value)
	}
	fmt.Println(err)
	// Output:
	// orders_total{country="NL"} 3
	// <nil>
}

// A few minutes after a process is gone its rows become part of the sums.
func ExampleSink_Compact() {
	client, closeAll := cluster()
	defer closeAll()
	sink, err := kafkasink.New(kafkasink.Options{Client: client, Topic: "counts"})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Close()
	done, err := sink.Compact(context.Background(), 5*time.Minute)
	fmt.Println(done.Writers, done.Rows, err)
	// Output: 0 0 <nil>
}

func ExampleNew() {
	client, err := kgo.NewClient(kgo.DisableIdempotentWrite())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	_, err = kafkasink.New(kafkasink.Options{Client: client, Topic: "counts"})
	fmt.Println(err)
	// Output: hotcount/kafkasink: Options.Client does not produce idempotently
}
