package hotcount_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
)

func Example() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())

	hits := e.Counter("http_requests_total", "method", "GET", "code", "200")
	hits.Inc()
	hits.Add(2)
	fmt.Println(hits.Key(), hits.Value())
	// Output: http_requests_total{code="200",method="GET"} 3
}

// With a Dir the counts go on after a restart.
func ExampleOptions() {
	dir, err := os.MkdirTemp("", "hotcount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	for range 2 {
		e, err := hotcount.New(hotcount.Options{Dir: dir, Interval: 10 * time.Second})
		if err != nil {
			log.Fatal(err)
		}
		starts := e.Counter("starts_total")
		starts.Inc()
		fmt.Println("start", starts.Value())
		if err := e.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// start 1
	// start 2
}

// Without a Dir and Sinks, snapshots are there for the taking.
func ExampleEngine() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	e.Counter("jobs_total", "queue", "mail").Add(3)

	var s snapshot.Snapshot // reuse it for the next
	e.Snapshot(&s)
	for row := range s.AllCounters() {
		if row.Key.Name() == "jobs_total" { // not one of the engine's own
			fmt.Println(s.Seq, row.Key, row.Value)
		}
	}
	// Output: 1 jobs_total{queue="mail"} 3
}

// What finds no room in its family is counted in the overflow series.
func ExampleLimits() {
	e, err := hotcount.New(hotcount.Options{Limits: hotcount.Limits{FamilySeries: 1}})
	if err != nil {
		log.Fatal(err)
	}
	views := e.CounterVec("views_total", "post")
	for _, post := range []string{"a", "b", "c", "a"} {
		views.With(post).Inc()
	}
	fmt.Println(views.With("a").Key(), views.With("a").Value())
	fmt.Println(views.With("z").Key(), views.With("z").Value())
	// Output:
	// views_total{post="a"} 2
	// views_total{hotcount_overflow="true"} 2
}

func ExampleCounter() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	open := e.Counter("connections")
	open.Inc()
	open.Inc()
	open.Add(-1)
	fmt.Println(open.Value())
	// Output: 1
}

func ExampleCounterVec() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	requests := e.CounterVec("http_requests_total", "method", "code")
	requests.With("GET", "200").Inc()
	requests.With("GET", "404").Inc()
	requests.With("GET", "200").Inc()
	fmt.Println(requests.With("GET", "200").Value())
	// Output: 2
}

func ExampleUniques() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	visitors := e.Uniques("visitors")
	for _, user := range []string{"ann", "bob", "ann", "cy"} {
		visitors.AddString(user)
	}
	fmt.Println(visitors.Estimate().Count)
	// Output: 3
}

func ExampleUniquesVec() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	visitors := e.UniquesVec("visitors", "page")
	visitors.With("home").AddString("ann")
	visitors.With("home").AddString("ann")
	visitors.With("help").AddString("bob")
	fmt.Println(visitors.With("home").Estimate().Count)
	// Output: 1
}

// A request that is retried counts once.
func ExampleOnce() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	sold := e.Counter("tickets_sold_total")
	once, err := hotcount.NewOnce(sold, hotcount.OnceOptions{Window: time.Hour, Capacity: 100_000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(once.AddOnce("order-17", 2))
	fmt.Println(once.AddOnce("order-17", 2)) // the client did not get the answer
	fmt.Println(sold.Value())
	// Output:
	// true
	// false
	// 2
}

// The ids of one Window should fit the Capacity. Those that do not are counted,
// and not guarded against repetition.
func ExampleOnceOptions() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	clicks := e.Counter("clicks_total")
	once, err := hotcount.NewOnce(clicks, hotcount.OnceOptions{Window: time.Minute, Capacity: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c", "c", "a"} {
		once.AddOnce(id, 1)
	}
	fmt.Println(clicks.Value(), "counted,", once.Unguarded(), "of them unguarded")
	// Output: 4 counted, 2 of them unguarded
}

func ExampleRestored() {
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
		if r := e.Restored(); r.Runs > 0 {
			fmt.Printf("going on with %d series of %d run\n", r.Series, r.Runs)
		}
		e.Counter("jobs_total", "queue", "mail").Inc()
		if err := e.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	// Output: going on with 1 series of 1 run
}
