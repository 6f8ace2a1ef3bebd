package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hotcount/hotcount/bench"
)

// A verdict says how the working tree compares with the base.
type verdict string

const (
	slower  verdict = "SLOWER"
	faster  verdict = "faster"
	same    verdict = "same"
	unclear verdict = "unclear" // the medians differ, and no more than the samples do
	removed verdict = "removed"
	added   verdict = "new"
)

// A row is what is said of a benchmark.
type row struct {
	of       benchmark
	old, new bench.Summary // seconds per operation
	verdict  verdict
}

// ratio is above 1 if the working tree takes longer.
func (r *row) ratio() float64 { return r.new.Median / r.old.Median }

// judge compares all, sorted by package and name.
func (m measurements) judge(tolerance float64) []row {
	rows := make([]row, 0, len(m))
	for b, s := range m {
		rows = append(rows, s.judge(b, tolerance))
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.of.in.pkg, b.of.in.pkg), cmp.Compare(a.of.name, b.of.name))
	})
	return rows
}

// judge compares medians, with a tolerance in percent, and the samples around them.
func (s *samples) judge(b benchmark, tolerance float64) row {
	r := row{of: b, old: bench.Summarize(s[before]), new: bench.Summarize(s[after])}
	limit := 1 + tolerance/100
	switch {
	case len(s[after]) == 0:
		r.verdict = removed
	case len(s[before]) == 0:
		r.verdict = added
	case r.ratio() > limit && r.new.Low > r.old.High:
		r.verdict = slower
	case r.ratio() < 1/limit && r.new.High < r.old.Low:
		r.verdict = faster
	case r.ratio() > limit || r.ratio() < 1/limit:
		r.verdict = unclear
	default:
		r.verdict = same
	}
	return r
}

// report prints the rows and reports whether a benchmark is slower.
func report(w io.Writer, base string, rows []row) (bool, error) {
	if len(rows) == 0 {
		return false, errors.New("no benchmark matches")
	}
	fmt.Fprintf(w, "ns/op, medians and quartiles; base is %s\n\n", base)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "package\tbenchmark\tbase\tworking tree\tratio\tverdict")
	counts := make(map[verdict]int)
	for i := range rows {
		r := &rows[i]
		counts[r.verdict]++
		ratio := ""
		if r.verdict != removed && r.verdict != added {
			ratio = fmt.Sprintf("%.3f", r.ratio())
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.of.in.pkg, r.of.name, nanoseconds(r.old), nanoseconds(r.new), ratio, r.verdict)
	}
	if err := t.Flush(); err != nil {
		return false, err
	}
	var sum []string
	for _, v := range []verdict{slower, faster, same, unclear, removed, added} {
		if counts[v] > 0 {
			sum = append(sum, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(sum, ", "))
	return counts[slower] > 0, err
}

func nanoseconds(s bench.Summary) string {
	if s.Median == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g (%.4g to %.4g)", s.Median*1e9, s.Low*1e9, s.High*1e9)
}
