package bench_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/bench"
)

// packed is a counter of one's own: atomics side by side.
type packed []atomic.Int64

func (p packed) Incs(n int) {
	c := &p[0]
	for range n {
		c.Add(1)
	}
}

func (p packed) Run(steps []bench.Step) {
	for _, s := range steps {
		if c := &p[s.Key()]; s.Read() {
			c.Load()
		} else {
			c.Add(1)
		}
	}
}

func (p packed) Verify(adds []int64) error {
	return bench.Compare(adds, func(key int) int64 { return p[key].Load() })
}

// A counter of one's own beside those of the workload "add".
func Example() {
	workloads := bench.Workloads()
	add := slices.IndexFunc(workloads, func(w bench.Workload) bool { return w.Name == "add" })
	workloads[add].Impls = append(workloads[add].Impls, bench.Impl{
		Name: "packed",
		New:  func(l bench.Layout) (bench.Counters, error) { return make(packed, l.Keys), nil },
	})
	cases := slices.DeleteFunc(bench.Plan(workloads, 2, bench.Usual), func(c bench.Case) bool {
		return c.Impl.Name != "packed" && c.Impl.Name != "atomic" || c.Workload != "add" || c.Goroutines != 1
	})
	report, err := bench.Run(context.Background(), cases, bench.Options{Samples: 6, Round: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		fmt.Println(r.Name(), r.Speed().Median > 0, r.BytesPerCounter < 16)
	}
	// Output:
	// add/impl=atomic/goroutines=1/reads=0/keys=one true true
	// add/impl=packed/goroutines=1/reads=0/keys=one true true
}

func ExamplePlan() {
	for _, c := range bench.Plan(bench.Workloads(), 2, bench.Usual) {
		if c.Workload == "group" && c.Goroutines == 2 {
			fmt.Println(c.Name())
		}
	}
	// Output:
	// group/impl=hotcount/goroutines=2/reads=0/keys=one
	// group/impl=counters/goroutines=2/reads=0/keys=one
	// group/impl=atomics/goroutines=2/reads=0/keys=one
}

// Check is for tests of an implementation.
func ExampleCheck() {
	impl := bench.Impl{
		Name: "packed",
		New:  func(l bench.Layout) (bench.Counters, error) { return make(packed, l.Keys), nil },
	}
	fmt.Println(bench.Check(bench.Case{Workload: "add", Impl: impl, Goroutines: 8, Keys: bench.Zipf}, 10_000))
	// Output: <nil>
}

func ExampleReport() {
	report := &bench.Report{
		Machine: bench.Machine{CPU: "Engine 9", Cores: 2, Procs: 2, Go: "go1.26.8", OS: "linux", Arch: "amd64"},
		Samples: 3,
		Results: []bench.Result{{
			Workload: "add", Impl: "atomic", Goroutines: 2, Keys: bench.One.String(),
			OpsPerSecond: []float64{2e8, 2.5e8, 1e8},
			Latency:      &bench.Percentiles{Samples: 2000, Clock: 40, P50: 5, P90: 6, P99: 9, P999: 80, Max: 900},
		}},
	}
	if err := report.WriteCSV(os.Stdout); err != nil {
		fmt.Println(err)
	}
	fmt.Println(report.Results[0].Cost().Median, "ns")
	for _, c := range report.Caveats() {
		fmt.Println(c)
	}
	// Output:
	// workload,impl,stripes,pick,goroutines,read_percent,keys,rounds,disturbed,ops_per_second_median,ops_per_second_q1,ops_per_second_q3,latency_samples,p50_ns,p90_ns,p99_ns,p999_ns,max_ns,bytes_per_counter,stripe_skew
	// add,atomic,,,2,0,one,3,0,2e+08,1.5e+08,2.25e+08,2000,5,6,9,80,900,,
	// 5 ns
	// This machine has 2 cores: nothing here says what more of them would do.
}

func ExampleDecode() {
	_, err := bench.Decode(strings.NewReader(`{"format": "hotcount-bench/99"}`))
	fmt.Println(err)
	// Output: hotcount/bench: not a valid report: the format is "hotcount-bench/99", not "hotcount-bench/1"
}

func ExampleSummarize() {
	s := bench.Summarize([]float64{5, 3, 4, 2, 6})
	fmt.Println(s.Median, s.Low, s.High, s.Spread())
	// Output: 4 3 5 0.5
}
