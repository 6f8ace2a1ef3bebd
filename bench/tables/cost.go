package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// ours is the implementation that the others are put beside.
const ours = "hotcount"

const beside = "beside it, and how many times as fast hotcount is"

// cost is the short table: each kind of work by a goroutine for each processor,
// hotcount, and whoever else does it, the fastest first. Reading all out meanwhile
// is left out: the reader takes a processor, so that less contention is no merit.
func cost(r *bench.Report) string {
	p := newPivot("million operations per second")
	p.words = beside
	for _, w := range []struct{ workload, text string }{
		{"add", "add to one counter"},
		{"lookup", "find a counter by two labels, and add"},
		{"group", "add to four counters together"},
		{"local", "add through a handle of one goroutine"},
		{"uniques", "add to a distinct count"},
		{"window", "add to a counter that knows its last minute"},
	} {
		var results []*bench.Result
		for _, res := range usual(own(r, w.workload)) {
			if res.Goroutines == r.Machine.Procs {
				results = append(results, res)
			}
		}
		costRow(p, w.text, results)
	}
	return p.markdown() + "\n" + escape(strings.Join(r.Caveats(), " ")) + "\n"
}

// costRow adds a row, if hotcount was measured at that work.
func costRow(p *pivot, name string, results []*bench.Result) {
	fastestFirst(results)
	i := slices.IndexFunc(results, func(r *bench.Result) bool { return r.Impl == ours })
	if i < 0 {
		return
	}
	mine := results[i]
	var others []string
	for _, other := range slices.Delete(slices.Clone(results), i, i+1) {
		text := other.Impl + " " + show.Short(other.Speed().Median/1e6)
		if other.Impl == "atomic" || len(others) == 0 {
			text += fmt.Sprintf(" (%s ×)", show.Short(mine.Speed().Median/other.Speed().Median))
		}
		others = append(others, text)
	}
	p.set(name, ours, rate(mine))
	p.set(name, beside, strings.Join(others, ", "))
}
