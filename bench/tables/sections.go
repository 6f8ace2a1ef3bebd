package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// errSection is wrapped by the error for a section that there is none of.
var errSection = errors.New("unknown section")

// sections are what pages may ask for.
var sections = map[string]func(*bench.Report) string{
	"noise":    noise,
	"cost":     cost,
	"add":      byGoroutines("add"),
	"reads":    reads,
	"keys":     keys,
	"stripes":  stripes,
	"skew":     skew,
	"lookup":   byGoroutines("lookup"),
	"group":    byGoroutines("group"),
	"local":    byGoroutines("local"),
	"uniques":  byGoroutines("uniques"),
	"window":   byGoroutines("window"),
	"snapshot": byGoroutines("snapshot"),
	"latency":  latency,
	"memory":   memory,
}

// section returns a section, with what its table is of above it.
func section(name string, r *bench.Report) (string, error) {
	make, ok := sections[name]
	if !ok {
		return "", fmt.Errorf("%w %q", errSection, name)
	}
	return source(r) + "\n\n" + make(r), nil
}

// own returns the results of a workload that lay out their counters by themselves.
func own(r *bench.Report, workload string) []*bench.Result {
	var list []*bench.Result
	for i := range r.Results {
		if res := &r.Results[i]; res.Workload == workload && res.Stripes == 0 {
			list = append(list, res)
		}
	}
	return list
}

// usual returns those of results that are of the workload's usual work: no reads,
// and the keys of its first result.
func usual(list []*bench.Result) []*bench.Result {
	return slices.DeleteFunc(slices.Clone(list), func(r *bench.Result) bool {
		return r.ReadPercent != 0 || r.Keys != list[0].Keys
	})
}

// busy reports whether a result is of one goroutine a P.
func busy(r *bench.Report, res *bench.Result) bool { return res.Goroutines == r.Machine.Procs }

func goroutines(r *bench.Result) string { return count(r.Goroutines, "goroutine") }

func layout(r *bench.Result) string {
	return fmt.Sprintf("%s, %s", count(r.Stripes, "stripe"), r.Pick)
}

// byGoroutines is implementations by goroutines, in millions per second.
func byGoroutines(workload string) func(*bench.Report) string {
	return func(r *bench.Report) string {
		p := newPivot("million operations per second")
		for _, res := range usual(own(r, workload)) {
			p.set(res.Impl, goroutines(res), rate(res))
		}
		return p.markdown()
	}
}

// reads is implementations by the share of reads.
func reads(r *bench.Report) string {
	p := newPivot("million operations per second")
	for _, res := range own(r, "add") {
		if busy(r, res) && res.Keys == bench.One.String() {
			p.set(res.Impl, fmt.Sprintf("%d %% reads", res.ReadPercent), rate(res))
		}
	}
	return p.markdown()
}

// keys is implementations by the choice of the counter.
func keys(r *bench.Report) string {
	names := map[string]string{
		bench.One.String():     "one counter",
		bench.Zipf.String():    "1,000, Zipf",
		bench.Uniform.String(): "1,000, uniform",
	}
	p := newPivot("million operations per second")
	for _, res := range own(r, "add") {
		if busy(r, res) && res.ReadPercent == 0 {
			p.set(res.Impl, names[res.Keys], rate(res))
		}
	}
	return p.markdown()
}

// striped returns the adds to one counter with a fixed number of stripes.
func striped(r *bench.Report) []*bench.Result {
	var list []*bench.Result
	for i := range r.Results {
		if res := &r.Results[i]; res.Workload == "add" && res.Stripes > 0 && res.Keys == bench.One.String() && res.ReadPercent == 0 {
			list = append(list, res)
		}
	}
	return list
}

// stripes is layouts by goroutines.
func stripes(r *bench.Report) string {
	p := newPivot("million adds per second")
	for _, res := range striped(r) {
		p.set(layout(res), goroutines(res), rate(res))
	}
	return p.markdown()
}

// skew is layouts by goroutines: the busiest stripe over the mean.
func skew(r *bench.Report) string {
	p := newPivot("busiest stripe over the mean")
	for _, res := range striped(r) {
		if v := res.Skew(); v > 0 && res.Stripes > 1 {
			p.set(layout(res), goroutines(res), show.Short(v))
		}
	}
	return p.markdown()
}

// latency is implementations by percentiles.
func latency(r *bench.Report) string {
	p := newPivot("ns of single adds")
	for _, res := range usual(own(r, "add")) {
		l := res.Latency
		if l == nil || !busy(r, res) {
			continue
		}
		for _, v := range []struct {
			name  string
			value float64
		}{{"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"p99.9", l.P999}, {"max", l.Max}} {
			p.set(res.Impl, v.name, strconv.FormatFloat(v.value, 'f', 0, 64))
		}
		p.set(res.Impl, "samples", strconv.Itoa(l.Samples))
	}
	return p.markdown()
}

// memory is implementations by workloads.
func memory(r *bench.Report) string {
	columns := map[string]string{"add": "a counter", "lookup": "a labelled counter", "uniques": "a distinct count"}
	p := newPivot("bytes of heap")
	for _, workload := range []string{"add", "lookup", "uniques"} {
		for _, res := range own(r, workload) {
			if res.BytesPerCounter > 0 {
				p.set(res.Impl, columns[workload], strconv.FormatFloat(res.BytesPerCounter, 'f', 0, 64))
			}
		}
	}
	return p.markdown()
}

// noise says what the numbers do not show, and how quiet it was.
func noise(r *bench.Report) string {
	var b strings.Builder
	for _, c := range r.Caveats() {
		b.WriteString("- " + escape(c) + "\n")
	}
	return b.String()
}
