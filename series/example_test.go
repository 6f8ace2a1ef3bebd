package series_test

import (
	"fmt"
	"slices"

	"github.com/hotcount/hotcount/series"
)

var requests, _ = series.NewDesc("http_requests_total", "method", "code")

func ExampleKey() {
	k := requests.Key("GET", "200")
	fmt.Println(k.Name(), k.Label("code"))
	for name, value := range k.Labels() {
		fmt.Println(name, "=", value)
	}
	// Output:
	// http_requests_total 200
	// method = GET
	// code = 200
}

func ExampleDesc() {
	d, err := series.NewDesc("http_requests_total", "method", "code")
	fmt.Println(d.Name(), slices.Collect(d.Labels()), err)
	_, err = series.NewDesc("http-requests")
	fmt.Println(err)
	// Output:
	// http_requests_total [method code] <nil>
	// hotcount/series: invalid name: metric "http-requests" does not match [a-zA-Z_:][a-zA-Z0-9_:]*
}

// Keys of equal content are equal, so that a map finds one that was read elsewhere.
func ExampleParseKey() {
	hits := map[series.Key]int{requests.Key("GET", "200"): 7}
	k, err := series.ParseKey(`http_requests_total{method="GET",code="200"}`)
	fmt.Println(hits[k], err)
	// Output: 7 <nil>
}
