package stripe_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/hotcount/hotcount/stripe"
)

func ExampleCounter() {
	var hits stripe.Counter // the zero value is ready
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				hits.Inc()
			}
		})
	}
	wg.Wait()
	fmt.Println(hits.Value())
	// Output: 8000
}

// Each interval's count, with no add lost or counted twice in between.
func ExampleCounter_Drain() {
	var sent stripe.Counter
	sent.Add(3)
	fmt.Println(sent.Drain())
	sent.Add(4)
	fmt.Println(sent.Drain(), sent.Value())
	// Output:
	// 3
	// 4 0
}

// A counter that is known to be hot starts with its stripes.
func ExampleNew() {
	c, err := stripe.New(stripe.Options{Stripes: 6, Pick: stripe.PerP})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Add(5)
	s := c.Stats()
	fmt.Println(c.Value(), s.Hot, len(s.Stripes))
	// Output: 5 true 8
}

func ExampleStats() {
	c, _ := stripe.New(stripe.Options{Stripes: 1})
	c.Add(12)
	s := c.Stats()
	fmt.Printf("hot %v, cold adds %d, stripes %v, skew %.1f\n", s.Hot, s.Cold, s.Stripes, s.Skew)
	// Output: hot true, cold adds 0, stripes [12], skew 1.0
}

// A loop that counts bytes pays for one atomic add in a megabyte.
func ExampleLocal() {
	var bytes stripe.Counter
	l := bytes.Local(1 << 20)
	defer l.Flush()
	for range 3 {
		l.Add(500_000)
	}
	fmt.Println(bytes.Value(), l.Pending())
	// Output: 1500000 0
}

// The counts of one route are written together.
func ExampleGroup() {
	const requests, failures, bytes = 0, 1, 2
	g := stripe.NewGroup(3)
	g.Add(1, 0, 512)
	g.Add(1, 1, 128)
	fmt.Println(g.Value(requests), g.Value(failures), g.Value(bytes))
	fmt.Println(g.Drain(nil), g.Values(nil))
	// Output:
	// 2 1 640
	// [2 1 640] [0 0 0]
}

// A page that shows a count may show it a second old.
func ExampleTotal() {
	var views stripe.Counter
	total := stripe.NewTotal(&views, time.Second)
	views.Add(3)
	sum, age := total.Value()
	fmt.Println(sum, age < time.Second)
	// Output: 0 true
}

// hitsAndMisses is a Valuer: what a Total caches may be a sum of counters.
type hitsAndMisses struct{ hits, misses stripe.Counter }

func (h *hitsAndMisses) Value() int64 { return h.hits.Value() + h.misses.Value() }

func ExampleValuer() {
	var cache hitsAndMisses
	cache.hits.Add(5)
	cache.misses.Add(2)
	lookups := stripe.NewTotal(&cache, time.Second)
	sum, _ := lookups.Value()
	fmt.Println(sum)
	// Output: 7
}

func ExampleRecommend() {
	const peak, ceiling = 900e6, 120e6 // adds per second; see Ceiling for the latter
	n, err := stripe.Recommend(peak, ceiling)
	fmt.Println(n, err)
	_, err = stripe.Recommend(peak, 0)
	fmt.Println(err)
	// Output:
	// 8 <nil>
	// hotcount/stripe: rate out of range: 0 adds per second
}

func ExampleMonotone() {
	var served stripe.Monotone
	served.Inc()
	fmt.Println(served.Add(2), served.Add(-1), served.Value())
	// Output: true false 3
}

// The slowest response since the last look.
func ExampleMax() {
	var slowest stripe.Max
	for _, ms := range []int64{12, 80, 31} {
		slowest.Observe(ms)
	}
	fmt.Println(slowest.Drain())
	fmt.Println(slowest.Value())
	// Output:
	// 80 true
	// 0 false
}

func ExampleMin() {
	var fastest stripe.Min
	for _, ms := range []int64{12, 80, 31} {
		fastest.Observe(ms)
	}
	fmt.Println(fastest.Value())
	// Output: 12 true
}

func ExamplePick() {
	fmt.Println(stripe.Auto, stripe.PerP, stripe.PerGoroutine, stripe.Random)
	// Output: Auto PerP PerGoroutine Random
}
