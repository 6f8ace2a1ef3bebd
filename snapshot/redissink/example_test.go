package redissink_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot/redissink"
)

func Example() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	sink, err := redissink.New(redissink.Options{Client: client, Prefix: "shop:"})
	if err != nil {
		log.Fatal(err)
	}
	e, err := hotcount.New(hotcount.Options{
		Dir:     "data",                       // what a crash leaves is handed on from here
		Sinks:   []export.Sink{sink},          // every 10 s
		Uniques: hll.Options{Hash: hll.Redis}, // so that PFCOUNT can read them
	})
	if err != nil {
		log.Fatal(err)
	}
	e.Counter("orders_total", "country", "NL").Inc()
	e.Uniques("buyers").AddString("user-7")
	if err := e.Close(context.Background()); err != nil {
		log.Print(err)
	}
}

func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	sink, err := redissink.New(redissink.Options{Client: client, Prefix: "shop:", Lease: 6 * time.Hour})
	fmt.Println(sink, err)
	_, err = redissink.New(redissink.Options{Client: client, Prefix: "{shop}:"})
	fmt.Println(err)
	// Output:
	// redis shop: <nil>
	// hotcount/redissink: Options.Prefix "{shop}:" contains a brace
}

func ExampleSink_KeyNames() {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:7000"}})
	defer client.Close()
	cluster, err := redissink.New(redissink.Options{Client: client})
	if err != nil {
		log.Fatal(err)
	}
	single, err := redissink.New(redissink.Options{Client: redis.NewClient(&redis.Options{})})
	if err != nil {
		log.Fatal(err)
	}
	key, err := series.ParseKey(`http_requests_total{code="200"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(single.KeyNames(key).Count)
	fmt.Println(cluster.KeyNames(key).Count)
	// Output:
	// count:{http_requests_total{code="200"}}
	// {0}:count:{http_requests_total{code="200"}}
}

func ExampleSink_ViewsKey() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	sink, err := redissink.New(redissink.Options{Client: client, Prefix: "shop:"})
	if err != nil {
		log.Fatal(err)
	}
	key, err := series.ParseKey("page_views_total")
	if err != nil {
		log.Fatal(err)
	}
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	fmt.Printf("HGET %s total\n", sink.ViewsKey(key, time.Minute, noon))
	// Output: HGET shop:views:{page_views_total}:60:1893499200 total
}

func ExampleSink_Window() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	sink, err := redissink.New(redissink.Options{Client: client})
	if err != nil {
		log.Fatal(err)
	}
	key, err := series.ParseKey("page_views_total")
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	buckets, err := sink.Window(context.Background(), key, time.Minute, now.Add(-time.Hour), now)
	if err != nil {
		log.Print(err) // an *export.PartialError if some are missing
	}
	for _, b := range buckets {
		fmt.Println(b.Start.Format(time.TimeOnly), b.Count)
	}
}

func ExampleSink_Totals() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	sink, err := redissink.New(redissink.Options{Client: client})
	if err != nil {
		log.Fatal(err)
	}
	q := export.Query{Prefix: "http_requests_total{"}
	for {
		page, err := sink.Totals(context.Background(), q)
		if err != nil {
			log.Print(err) // an *export.PartialError if some are missing
		}
		if len(page) == 0 {
			return
		}
		for _, t := range page {
			fmt.Println(t.Key, t.Value)
			q.After = t.Key
		}
	}
}

func ExampleSink_Sweep() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:6379"})
	defer client.Close()
	sink, err := redissink.New(redissink.Options{Client: client})
	if err != nil {
		log.Fatal(err)
	}
	swept, err := sink.Sweep(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(swept.Writers, "dead writers had", swept.Rows, "rows")
}
