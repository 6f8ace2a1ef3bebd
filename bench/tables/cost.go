package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount/bench"
)

// ours is the implementation that the others are put beside.
const ours = "hotcount"

const beside = "beside it, and how many times as fast hotcount is"

// cost is the short table: each kind of work, hotcount, and whoever else does it,
// the fastest first.
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
		{"snapshot", "add while all is read out, again and again"},
	} {
		byGoroutines := make(map[int][]*bench.Result)
		var counts []int
		for _, res := range usual(own(r, w.workload)) {
			if byGoroutines[res.Goroutines] == nil {
				counts = append(counts, res.Goroutines)
			}
			byGoroutines[res.Goroutines] = append(byGoroutines[res.Goroutines], res)
		}
		for _, g := range counts {
			if g <= r.Machine.Procs {
				costRow(p, w.text+", "+count(g, "goroutine"), byGoroutines[g])
			}
		}
	}
	memoryRow(p, r)
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
		text := other.Impl + " " + short(other.Speed().Median/1e6)
		if other.Impl == "atomic" || len(others) == 0 {
			text += fmt.Sprintf(" (%s ×)", short(mine.Speed().Median/other.Speed().Median))
		}
		others = append(others, text)
	}
	p.set(name, ours, rate(mine))
	p.set(name, beside, strings.Join(others, ", "))
}

// memoryRow adds what a labelled counter takes.
func memoryRow(p *pivot, r *bench.Report) {
	weights := make(map[string]string)
	var others []string
	for _, res := range own(r, "lookup") {
		if _, ok := weights[res.Impl]; ok || res.BytesPerCounter == 0 {
			continue
		}
		weights[res.Impl] = strconv.FormatFloat(res.BytesPerCounter, 'f', 0, 64)
		if res.Impl != ours {
			others = append(others, res.Impl+" "+weights[res.Impl])
		}
	}
	if weights[ours] == "" {
		return
	}
	const row = "bytes of a labelled counter, one of 1,000"
	p.set(row, ours, weights[ours])
	p.set(row, beside, strings.Join(others, ", "))
}
