// Package benchtext shows people what a benchmark is doing and what it found.
package benchtext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/internal/text"
)

// WriteTables writes a report for people: where and how it was measured, a table
// for each workload, and what the figures do not show.
func WriteTables(w io.Writer, r *bench.Report) error {
	var b strings.Builder
	writeHead(&b, r)
	for from := 0; from < len(r.Results); {
		to := from
		for to < len(r.Results) && r.Results[to].Workload == r.Results[from].Workload {
			to++
		}
		if err := writeWorkload(&b, r.Results[from:to]); err != nil {
			return err
		}
		from = to
	}
	b.WriteByte('\n')
	for _, c := range r.Caveats() {
		fmt.Fprintf(&b, "%s\n", c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeHead(b *strings.Builder, r *bench.Report) {
	m := r.Machine
	fmt.Fprintf(b, "%s, %s, GOMAXPROCS %d, %s, %s/%s\n", m.CPU, text.Count(int64(m.Cores), "core"), m.Procs, m.Go, m.OS, m.Arch)
	fmt.Fprintf(b, "%s; %s", r.Date.Format(time.RFC3339), r.Command)
	if r.Commit != "" {
		fmt.Fprintf(b, "; commit %s", r.Commit)
	}
	fmt.Fprintf(b, "\n\nMedians of %s. spread is the distance of the quartiles in %% of the median, * if disturbed\n"+
		"rounds are part of it; ns is wall time over the operations of all goroutines; p50 and p99 are of\n"+
		"single operations, in ns; skew is the busiest stripe over the mean of them.\n",
		text.Count(int64(r.Samples), "round"))
}

// writeWorkload writes the results of one workload.
func writeWorkload(b *strings.Builder, results []bench.Result) error {
	t := text.NewTable("impl", ">stripes", "pick", ">goroutines", ">reads", "keys",
		">M ops/s", ">spread", ">ns", ">p50", ">p99", ">B/counter", ">skew")
	for i := range results {
		r := &results[i]
		speed := r.Speed()
		row := []string{
			r.Impl, known(float64(r.Stripes), 0), r.Pick, strconv.Itoa(r.Goroutines), fmt.Sprintf("%d %%", r.ReadPercent), r.Keys,
			fmt.Sprintf("%.1f", speed.Median/1e6), fmt.Sprintf("%.0f %%", 100*speed.Spread()) + mark(r), fmt.Sprintf("%.1f", r.Cost().Median),
		}
		if p := r.Latency; p != nil {
			row = append(row, fmt.Sprintf("%.0f", p.P50), fmt.Sprintf("%.0f", p.P99))
		} else {
			row = append(row, "", "")
		}
		t.Row(append(row, known(r.BytesPerCounter, 0), known(r.Skew(), 2))...)
	}
	fmt.Fprintf(b, "\n%s\n", results[0].Workload)
	return t.Write(b, "  ")
}

// mark tells a result apart that disturbed rounds are part of.
func mark(r *bench.Result) string {
	if r.Disturbed > 0 {
		return "*"
	}
	return " "
}

// known returns v with so many decimals, and nothing for 0, which stands for
// what was not measured.
func known(v float64, decimals int) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
