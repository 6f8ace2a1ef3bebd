package hotcount_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hotcount/hotcount"
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
