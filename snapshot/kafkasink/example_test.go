package kafkasink_test

import (
	"context"
	"fmt"
	"log"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/kafkasink"
	"github.com/hotcount/hotcount/snapshot/rowstream"
)

// A process counts, and another folds what is on the topic.
func Example() {
	broker, err := kfake.NewCluster(kfake.SeedTopics(1, "counts"))
	if err != nil {
		log.Fatal(err)
	}
	defer broker.Close()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.ListenAddrs()...),
		kgo.ConsumeTopics("counts"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	sink, err := kafkasink.New(kafkasink.Options{Client: client, Topic: "counts"})
	if err != nil {
		log.Fatal(err)
	}
	e, err := hotcount.New(hotcount.Options{Sinks: []snapshot.Sink{sink}})
	if err != nil {
		log.Fatal(err)
	}
	e.Counter("orders_total", "country", "NL").Add(3)
	if err := e.Close(context.Background()); err != nil {
		log.Fatal(err)
	}

	var totals rowstream.Fold
	for _, record := range client.PollFetches(context.Background()).Records() {
		row, err := rowstream.Decode(record.Value)
		if err == nil {
			err = totals.Apply(row)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	page, err := totals.Totals(context.Background(), snapshot.Query{Prefix: "orders_total{"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page[0].Key, page[0].Value)
	// Output: orders_total{country="NL"} 3
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
