package plot_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/plot"
)

func ExampleFigure() {
	r := &bench.Report{Results: []bench.Result{
		{Workload: "add", Impl: "atomic", Goroutines: 1, Keys: "one", OpsPerSecond: []float64{1e8}},
		{Workload: "add", Impl: "atomic", Goroutines: 8, Keys: "one", OpsPerSecond: []float64{3e7}},
	}}
	figures, err := plot.Figures(r)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range figures {
		fmt.Println(f.Title)
		fmt.Println(f.Text)
		var file strings.Builder
		if err := f.WriteSVG(&file); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// Operations per second by goroutines: add, one counter
	// Medians, and bars between the quartiles; higher is faster. At 1 goroutine: atomic 100 million per second. At 8 goroutines: atomic 30.0 million per second.
}
