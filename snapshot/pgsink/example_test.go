package pgsink_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/pgsink"
	"github.com/hotcount/hotcount/window"
)

// connect returns a pool, and a function that cleans up.
func connect(ctx context.Context, schema string) (*pgxpool.Pool, func()) {
	pool, err := pgxpool.New(ctx, pgsink.ServerURL())
	if err != nil {
		log.Fatal(err)
	}
	return pool, func() {
		if _, err := pool.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			log.Fatal(err)
		}
		pool.Close()
	}
}

// Two processes count, and anybody reads the sum.
func Example() {
	ctx := context.Background()
	schema := "example_" + snapshot.NewWriterID().String()
	pool, cleanUp := connect(ctx, schema)
	defer cleanUp()
	if err := pgsink.Migrate(ctx, pool, schema); err != nil { // once, by the owner
		log.Fatal(err)
	}

	for range 2 {
		sink, err := pgsink.New(pgsink.Options{Pool: pool, Schema: schema})
		if err != nil {
			log.Fatal(err)
		}
		e, err := hotcount.New(hotcount.Options{Sinks: []export.Sink{sink}})
		if err != nil {
			log.Fatal(err)
		}
		e.Counter("http_requests_total", "code", "200").Add(21)
		if err := e.Close(ctx); err != nil {
			log.Fatal(err)
		}
	}

	reader, err := pgsink.NewReader(pool, schema)
	if err != nil {
		log.Fatal(err)
	}
	totals, err := reader.Totals(ctx, export.Query{Prefix: "http_"})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range totals {
		fmt.Println(t.Key, t.Value, "of", t.Writers, "writers")
	}
	// Output:
	// http_requests_total{code="200"} 42 of 2 writers
}

// Totals that are added up at intervals are cheap to read, and say their age.
func ExampleReader() {
	ctx := context.Background()
	schema := "example_" + snapshot.NewWriterID().String()
	pool, cleanUp := connect(ctx, schema)
	defer cleanUp()
	if err := pgsink.Migrate(ctx, pool, schema); err != nil {
		log.Fatal(err)
	}
	sink, err := pgsink.New(pgsink.Options{Pool: pool, Schema: schema})
	if err != nil {
		log.Fatal(err)
	}
	desc, _ := series.NewDesc("likes_total")
	err = sink.Write(ctx, &snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Counters: []snapshot.CounterRow{{Key: desc.Key(), Created: 1, Value: 7}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := sink.RefreshTotals(ctx, time.Second); err != nil {
		log.Fatal(err)
	}

	reader, err := pgsink.NewReader(pool, schema)
	if err != nil {
		log.Fatal(err)
	}
	totals, age, err := reader.CachedTotals(ctx, export.Query{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(totals[0].Key, totals[0].Value, age < time.Minute)
	// Output: likes_total 7 true
}

// Windows of all writers fall together in buckets.
func ExampleReader_Window() {
	ctx := context.Background()
	schema := "example_" + snapshot.NewWriterID().String()
	pool, cleanUp := connect(ctx, schema)
	defer cleanUp()
	if err := pgsink.Migrate(ctx, pool, schema); err != nil {
		log.Fatal(err)
	}
	desc, _ := series.NewDesc("views_total")
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 3 {
		sink, err := pgsink.New(pgsink.Options{Pool: pool, Schema: schema})
		if err != nil {
			log.Fatal(err)
		}
		rows := []window.Row{{Resolution: time.Minute, Start: noon.UnixNano(), Width: time.Minute, Count: 5}}
		err = sink.Write(ctx, &snapshot.Snapshot{
			Writer:  snapshot.NewWriterID(),
			Seq:     1,
			Started: noon,
			Windows: []snapshot.WindowRows{{Key: desc.Key(), Rows: rows}},
		})
		if err != nil {
			log.Fatal(err)
		}
	}

	reader, err := pgsink.NewReader(pool, schema)
	if err != nil {
		log.Fatal(err)
	}
	buckets, err := reader.Window(ctx, desc.Key(), time.Minute, noon, noon.Add(time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range buckets {
		fmt.Println(b.Start.UTC().Format(time.TimeOnly), b.Count)
	}
	// Output: 12:00:00 15
}

// Sinks in a fleet need few privileges, and readers fewer.
func ExampleGrants() {
	fmt.Println(strings.Split(pgsink.Grants("", "counting", "dashboard"), "\n")[0])
	// Output: GRANT USAGE ON SCHEMA "hotcount" TO "counting", "dashboard";
}
