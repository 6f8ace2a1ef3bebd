package window_test

import (
	"fmt"
	"time"

	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

// A minute by the second, and a week by the hour.
func ExampleOptions() {
	var views stripe.Counter
	w, err := window.New(&views, window.Options{
		Resolution: time.Second,
		Buckets:    60,
		Coarser:    []window.Rung{{Resolution: time.Hour, Buckets: 7 * 24}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	views.Add(2)
	for _, r := range w.Rungs() {
		fmt.Println(r.Label(), r.Reach(), len(w.BucketsOf(r.Resolution)))
	}
	// Output:
	// 1m 1m0s 1
	// 168h 168h0m0s 1
}

// A Clock in a test shows what the test says.
func ExampleClock() {
	wall, elapsed := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC), time.Duration(0)
	clock := func() (time.Time, time.Duration) { return wall, elapsed }
	e, err := window.NewEvents(window.EventsOptions{Resolution: time.Minute, Buckets: 60, Clock: clock})
	if err != nil {
		fmt.Println(err)
		return
	}
	e.AddAt(wall, 3)
	e.AddAt(wall.Add(24*time.Hour), 1) // by somebody whose clock is wrong
	st := e.Stats()
	fmt.Println(st.Added, "counted,", st.Future, "not yet")
	// Output: 3 counted, 1 not yet
}

// Three rates, as a load average or a meter shows them; Ring.Rates returns them.
func ExampleRates() {
	r := window.Rates{M1: 12.5, M5: 10, M15: 9.75}
	fmt.Printf("%.2f %.2f %.2f\n", r.M1, r.M5, r.M15)
	// Output: 12.50 10.00 9.75
}

// Nothing that was added to the source is unaccounted for.
func ExampleRingStats() {
	var c stripe.Counter
	w, err := window.New(&c, window.Options{Resolution: time.Hour, Buckets: 24})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	c.Add(7)
	st := w.Stats()
	fmt.Println(st.Added, "added,", st.Evicted, "no longer held")
	// Output: 7 added, 0 no longer held
}

// A window of unique elements outlives its process as rows, too.
func ExampleSketchRow() {
	before, err := window.NewUniques(window.UniquesOptions{Resolution: time.Minute, Buckets: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	before.AddString("ann")
	before.AddString("bob")
	rows := before.AppendRows(nil)
	before.Close()

	after, err := window.NewUniques(window.UniquesOptions{Resolution: time.Minute, Buckets: 60})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer after.Close()
	if err := after.Restore(rows); err != nil {
		fmt.Println(err)
		return
	}
	after.AddString("ann")
	fmt.Println(after.Last(time.Hour).Count)
	// Output: 2
}

// Extremes are of what was observed in the span, if anything was.
func ExampleExtreme() {
	for _, e := range []window.Extreme{{Value: 120, OK: true, Covered: time.Minute}, {Covered: time.Minute}} {
		if e.OK {
			fmt.Println(e.Value, "in the last", e.Covered)
		} else {
			fmt.Println("nothing in the last", e.Covered)
		}
	}
	// Output:
	// 120 in the last 1m0s
	// nothing in the last 1m0s
}

// The oldest period of a window may be cut.
func ExamplePeriod() {
	e, err := window.NewEvents(window.EventsOptions{Resolution: 15 * time.Minute, Buckets: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	for minute := range 150 {
		e.AddAt(noon.Add(time.Duration(minute)*time.Minute), 1)
	}
	hours := window.Calendar{Unit: window.Hour}
	for _, p := range hours.Fold(e.Buckets()) {
		fmt.Println(p.Label, p.Count, p.Cut)
	}
	// Output:
	// 2025-06-01T13 60 false
	// 2025-06-01T14 30 false
}
