package hotcount_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
)

func ExampleEngine_Reconcile() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	orders := e.CounterVec("orders_total", "shop")
	orders.With("berlin").Add(40)
	orders.With("lima").Add(7)
	rows := map[string]int64{"berlin": 42, "lima": 7} // SELECT shop, count(*) …

	drifts, err := e.Reconcile(context.Background(), func(_ context.Context, k series.Key) (int64, bool, error) {
		n, ok := rows[k.Label("shop")]
		return n, ok && k.Name() == "orders_total", nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range drifts {
		fmt.Println(d.Key, "counted", d.Counted, "truth", d.Truth)
		if err := e.Adjust(d); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(orders.With("berlin").Value())
	// Output:
	// orders_total{shop="berlin"} counted 40 truth 42
	// 42
}

func ExampleDrift() {
	d := hotcount.Drift{Counted: 40, Truth: 42}
	fmt.Println(d.Adjustment()) // what Engine.Adjust adds
	// Output: 2
}
