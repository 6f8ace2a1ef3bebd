package window_test

import (
	"fmt"
	"time"

	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

func Example() {
	var views stripe.Counter
	w, err := window.New(&views, window.Options{}) // last minute, hour and day
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()

	views.Add(3) // as without the window
	fmt.Println(w.Last(time.Hour).Count, "views in the last hour")
	// Output: 3 views in the last hour
}

// Many windows share one sampler.
func ExampleSampler() {
	s := window.NewSampler(window.SamplerOptions{})
	defer s.Close()

	var hits, misses stripe.Counter
	for _, c := range []*stripe.Counter{&hits, &misses} {
		if _, err := window.New(c, window.Options{Resolution: time.Second, Buckets: 60, Sampler: s}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(s.Stats().Windows, "windows")
	// Output: 2 windows
}

func ExampleRing_Buckets() {
	var c stripe.Counter
	w, err := window.New(&c, window.Options{Resolution: time.Hour, Buckets: 24})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	c.Add(7)
	for _, b := range w.Buckets() { // more of them as time passes
		fmt.Println(b.Count)
	}
	// Output: 7
}

// A source may be any function that returns a cumulative total.
func ExampleSourceFunc() {
	var hits, misses stripe.Counter
	requests := window.SourceFunc(func() int64 { return hits.Value() + misses.Value() })
	w, err := window.New(requests, window.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	hits.Add(5)
	misses.Add(2)
	fmt.Println(w.Last(time.Minute).Count)
	// Output: 7
}

// A ring outlives its process as rows.
func ExampleRing_Restore() {
	var c stripe.Counter
	c.Add(1_000_000) // restored; no burst
	w, err := window.New(&c, window.Options{Resolution: time.Second, Buckets: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()

	saved := []window.Row{{
		Resolution: time.Second,
		Start:      time.Now().Add(-30 * time.Second).UnixNano(),
		Width:      time.Second,
		Count:      40,
	}}
	if err := w.Restore(saved); err != nil {
		fmt.Println(err)
		return
	}
	span := w.Last(time.Minute)
	fmt.Println(span.Count, "counted,", span.Gap.Round(time.Second), "not watched")
	// Output: 40 counted, 29s not watched
}

func ExampleSpan_PerSecond() {
	span := window.Span{Count: 90, Covered: time.Minute}
	fmt.Println(span.PerSecond())
	// Output: 1.5
}

func ExampleUniques() {
	u, err := window.NewUniques(window.UniquesOptions{}) // last hour, by the minute
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	for _, visitor := range []string{"ann", "bob", "ann"} {
		u.AddString(visitor)
	}
	fmt.Println(u.Last(time.Hour).Count, "visitors in the last hour")
	// Output: 2 visitors in the last hour
}

func ExampleMax() {
	slowest, err := window.NewMax(window.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer slowest.Close()
	slowest.Observe(120)
	slowest.Observe(80)
	fmt.Println(slowest.Last(time.Minute).Value)
	// Output: 120
}

func ExampleMin() {
	free, err := window.NewMin(window.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer free.Close()
	fmt.Println(free.Last(time.Minute).OK)
	free.Observe(120)
	free.Observe(80)
	fmt.Println(free.Last(time.Minute).Value)
	// Output: false
	// 80
}

func ExampleEvents() {
	e, err := window.NewEvents(window.EventsOptions{Resolution: time.Hour, Buckets: 24, Lateness: 2 * time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	e.AddAt(noon.Add(10*time.Minute), 1)
	e.AddAt(noon.Add(-10*time.Minute), 1) // a little out of order
	e.AddAt(noon.Add(-9*time.Hour), 1)    // too late
	for _, b := range e.Buckets() {
		fmt.Println(b.Start.UTC().Format(time.TimeOnly), b.Count)
	}
	fmt.Println(e.Stats().Late, "late")
	// Output: 11:00:00 1
	// 12:00:00 1
	// 1 late
}

func ExampleCalendar() {
	t := time.Date(2025, 6, 1, 14, 30, 0, 0, time.UTC)
	fmt.Println(window.Calendar{}.Label(t))
	fmt.Println(window.Calendar{Unit: window.Day}.Label(t))
	fmt.Println(window.Calendar{Zone: time.FixedZone("", -4*60*60)}.Label(t))
	// Output: 2025-06-01T14
	// 2025-06-01
	// 2025-06-01T10-0400
}

func ExampleCalendar_Fold() {
	e, err := window.NewEvents(window.EventsOptions{Resolution: 15 * time.Minute, Buckets: 96})
	if err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	for minute := range 150 {
		e.AddAt(noon.Add(time.Duration(minute)*time.Minute), 1)
	}
	for _, p := range (window.Calendar{}).Fold(e.Buckets()) {
		fmt.Println(p.Label, p.Count)
	}
	// Output: 2025-06-01T12 60
	// 2025-06-01T13 60
	// 2025-06-01T14 30
}
