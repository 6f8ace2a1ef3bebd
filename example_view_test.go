package hotcount_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/window"
)

func ExampleEngine_View() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	e.Counter("jobs_total", "queue", "mail").Add(2)
	e.Uniques("visitors").AddString("10.0.0.1")

	var v hotcount.View // keep it for the next call
	e.View(&v)
	for _, c := range v.Counters {
		fmt.Println(c.Key(), c.Run, c.Value())
	}
	for _, u := range v.Uniques {
		fmt.Println(u.Key(), u.Estimate().Count)
	}
	// Output:
	// jobs_total{queue="mail"} 2 2
	// visitors 1
}

// A page of what happened lately, from the live windows that a View hands out.
func ExampleView() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	views := e.Counter("views_total")
	if _, err := e.Window(views, window.Options{}); err != nil {
		log.Fatal(err)
	}
	hits, err := e.Events("log_hits", window.EventsOptions{Resolution: time.Hour, Buckets: 48})
	if err != nil {
		log.Fatal(err)
	}
	visitors, err := e.UniquesWindow("recent_visitors", window.UniquesOptions{})
	if err != nil {
		log.Fatal(err)
	}
	views.Add(3)
	hits.AddAt(time.Date(2025, 6, 1, 14, 59, 0, 0, time.UTC), 2)
	visitors.AddString("10.0.0.1")

	var v hotcount.View
	e.View(&v)
	for _, c := range v.Counters {
		fmt.Println(c.Key(), c.Window.Last(time.Hour).Count, "in the last hour")
	}
	for _, ev := range v.Events {
		fmt.Println(ev.Key, ev.Last(time.Hour).Count, "in the hour of the newest")
	}
	for _, u := range v.UniquesWindows {
		fmt.Println(u.Key, u.Last(time.Hour).Count, "different ones")
	}
	// Output:
	// views_total 3 in the last hour
	// log_hits 2 in the hour of the newest
	// recent_visitors 1 different ones
}

// What this run counted is apart from what earlier runs did: scrapers want the one,
// people the other.
func ExampleCounterView() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for range 2 {
		e, err := hotcount.New(hotcount.Options{Dir: dir})
		if err != nil {
			log.Fatal(err)
		}
		e.Counter("jobs_total").Add(5)
		var v hotcount.View
		e.View(&v)
		for _, c := range v.Counters {
			fmt.Println("this run", c.Run, "all runs", c.Value())
		}
		if err := e.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// this run 5 all runs 5
	// this run 5 all runs 10
}
