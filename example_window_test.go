package hotcount_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/window"
)

func ExampleEngine_Window() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())

	views := e.Counter("views_total")
	recent, err := e.Window(views, window.Options{}) // the last minute, hour and day
	if err != nil {
		log.Fatal(err)
	}
	views.Add(3) // costs what it would without the window
	fmt.Println(recent.Last(time.Hour).Count)
	// Output: 3
}

func ExampleWindowVec() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())

	views := e.CounterVec("views_total", "post")
	recent, err := e.WindowVec(views, window.Options{Resolution: time.Second, Buckets: 60})
	if err != nil {
		log.Fatal(err)
	}
	views.With("old news").Add(2)
	views.With("viral").Add(500)
	for _, m := range recent.Top(10, time.Minute) {
		fmt.Println(m.Key, m.Count)
	}
	// Output:
	// views_total{post="viral"} 500
	// views_total{post="old news"} 2
}

func ExampleMover() {
	m := hotcount.Mover{Span: window.Span{Count: 600, Covered: time.Minute}}
	fmt.Println(m.Count, m.PerSecond())
	// Output: 600 10
}

func ExampleEngine_Events() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())

	hits, err := e.Events("log_hits", window.EventsOptions{Resolution: time.Hour, Buckets: 48})
	if err != nil {
		log.Fatal(err)
	}
	hits.AddAt(time.Date(2025, 6, 1, 14, 59, 0, 0, time.UTC), 1)
	hits.AddAt(time.Date(2025, 6, 1, 15, 1, 0, 0, time.UTC), 2)
	for _, b := range hits.Buckets() {
		fmt.Println(b.Start.UTC().Format("15:04"), b.Count)
	}
	// Output:
	// 14:00 1
	// 15:00 2
}

func ExampleEngine_UniquesWindow() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())

	visitors, err := e.UniquesWindow("recent_visitors", window.UniquesOptions{}) // minutes of the last hour
	if err != nil {
		log.Fatal(err)
	}
	visitors.AddString("10.0.0.1")
	visitors.AddString("10.0.0.2")
	visitors.AddString("10.0.0.1")
	fmt.Println(visitors.Last(time.Hour).Count)
	// Output: 2
}
