package filesink_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

var hits, _ = series.NewDesc("hits_total")

// run is one life of a process: it counts n and saves that.
func run(dir string, n int64) {
	sink, err := filesink.Open(filesink.Options{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Close()

	total := n
	for _, s := range sink.Restored() {
		for c := range s.AllCounters() {
			total += c.Value
		}
		if !s.Writer.IsZero() { // there is no other sink that would want it first
			if err := sink.Fold(s.Writer); err != nil {
				log.Fatal(err)
			}
		}
	}
	fmt.Println("lifetime total:", total)

	err = sink.Write(context.Background(), &snapshot.Snapshot{
		Writer:   snapshot.NewWriterID(),
		Seq:      1,
		Taken:    time.Now(),
		Counters: []snapshot.CounterRow{{Key: hits.Key(), Value: n}},
	})
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleSink() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	run(dir, 1)
	run(dir, 20)
	run(dir, 300)
	// Output:
	// lifetime total: 1
	// lifetime total: 21
	// lifetime total: 321
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sink, err := filesink.Open(filesink.Options{Dir: dir, Keep: 5, KeepFor: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Close()

	_, err = filesink.Open(filesink.Options{Dir: dir})
	fmt.Println(errors.Is(err, filesink.ErrLocked))
	// Output: true
}

func ExampleInspect() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	run(dir, 1)
	run(dir, 20)

	files, err := filesink.Inspect(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		if f.Kind == filesink.KindBase || f.Kind == filesink.KindSnapshot {
			fmt.Println(f.Kind, "seq", f.Seq, "counts:", f.Counts, "error:", f.Err)
		}
	}
	// Unordered output:
	// lifetime total: 1
	// lifetime total: 21
	// base seq 1 counts: true error: <nil>
	// snapshot seq 1 counts: false error: <nil>
	// snapshot seq 1 counts: true error: <nil>
}

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	run(dir, 7)

	snaps, damaged, err := filesink.Load(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range snaps {
		for c := range s.AllCounters() {
			fmt.Println(c.Key, c.Value)
		}
	}
	fmt.Println("damaged files:", len(damaged))
	// Output:
	// lifetime total: 7
	// hits_total 7
	// damaged files: 0
}

// A file that was cut short is noticed, and left where it is.
func ExampleDamage() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	run(dir, 7)
	files, err := filepath.Glob(filepath.Join(dir, "*.hcs"))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range files {
		if err := os.Truncate(name, 20); err != nil {
			log.Fatal(err)
		}
	}

	_, damaged, err := filesink.Load(dir)
	for _, d := range damaged {
		fmt.Println(d.Err)
	}
	fmt.Println(errors.Is(err, filesink.ErrUnreadable)) // it was the only one
	// Output:
	// lifetime total: 7
	// hotcount/snapshot: damaged snapshot: it is cut short at byte 20
	// true
}
