package export_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
)

// A shelf is about the smallest Reader: totals, in the order of their keys, and a
// part of them that does not answer.
type shelf struct {
	totals []export.CounterTotal
	down   []string
}

func (s *shelf) Totals(_ context.Context, q export.Query) (page []export.CounterTotal, err error) {
	if len(s.down) > 0 {
		err = &export.PartialError{Missing: s.down, Err: errors.New("connection refused")}
	}
	for _, t := range s.totals {
		if k := t.Key.String(); strings.HasPrefix(k, q.Prefix) && k > q.After.String() && len(page) < q.Limit {
			page = append(page, t)
		}
	}
	return page, err
}

func (*shelf) Uniques(context.Context, export.Query) ([]export.UniquesTotal, error) {
	visitors, err := hll.New(hll.Options{})
	if err != nil {
		return nil, err
	}
	visitors.AddString("10.0.0.1")
	return []export.UniquesTotal{{Key: requests.Key("GET", "200"), Scheme: visitors.Scheme(), Sketch: visitors}}, nil
}

func (*shelf) Window(_ context.Context, _ series.Key, _ time.Duration, from, _ time.Time) ([]export.BucketTotal, error) {
	return []export.BucketTotal{{Start: from, Count: 5}}, nil
}

// What can be read of a fleet does not depend on the store that keeps it.
func ExampleReader() {
	var fleet export.Reader = &shelf{}
	ctx := context.Background()
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

	uniques, err := fleet.Uniques(ctx, export.Query{})
	if err != nil {
		fmt.Println(err)
	}
	for _, u := range uniques {
		fmt.Println(u.Key, u.Sketch.Estimate().Count)
	}
	buckets, err := fleet.Window(ctx, requests.Key("GET", "200"), time.Minute, noon, noon.Add(time.Hour))
	if err != nil {
		fmt.Println(err)
	}
	for _, b := range buckets {
		fmt.Println(b.Start.Format(time.TimeOnly), b.Count)
	}
	// Output:
	// http_requests_total{method="GET",code="200"} 1
	// 12:00:00 5
}

// A page begins after the last key of the one before.
func ExampleQuery() {
	fleet := &shelf{totals: []export.CounterTotal{
		{Key: requests.Key("GET", "200"), Value: 70, Writers: 2},
		{Key: requests.Key("GET", "404"), Value: 3, Writers: 1},
		{Key: requests.Key("POST", "200"), Value: 9, Writers: 2},
	}}
	q := export.Query{Prefix: "http_requests_total{", Limit: 2}
	for {
		page, err := fleet.Totals(context.Background(), q)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, t := range page {
			fmt.Println(t.Key, t.Value, "of", t.Writers)
		}
		if len(page) < q.Limit {
			return
		}
		q.After = page[len(page)-1].Key
	}
	// Output:
	// http_requests_total{method="GET",code="200"} 70 of 2
	// http_requests_total{method="GET",code="404"} 3 of 1
	// http_requests_total{method="POST",code="200"} 9 of 2
}

// Some totals are often better than none, if it is said which ones are missing.
func ExamplePartialError() {
	fleet := &shelf{
		totals: []export.CounterTotal{{Key: requests.Key("GET", "200"), Value: 70}},
		down:   []string{"10.0.0.7:6379"},
	}
	page, err := fleet.Totals(context.Background(), export.Query{Limit: 10})
	var partial *export.PartialError
	if errors.As(err, &partial) {
		fmt.Println(len(page), "without those of", partial.Missing)
	}
	// Output: 1 without those of [10.0.0.7:6379]
}
