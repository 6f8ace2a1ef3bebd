package bench

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// WriteBench writes the report as "go test -bench" does, a line for each round,
// for benchstat:
//
//	benchstat -col /impl -filter '.name:Add' FILE
//
// The ns/op are wall time over the operations of all goroutines.
func (r *Report) WriteBench(w io.Writer) error {
	if err := r.validate(); err != nil {
		return err
	}
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\ngo: %s\ncpu: %s\ncores: %d\n", m.OS, m.Arch, m.Go, m.CPU, m.Cores)
	fmt.Fprintf(&b, "date: %s\ncommand: %s\n", r.Date.Format(time.RFC3339), r.Command)
	if r.Commit != "" {
		fmt.Fprintf(&b, "commit: %s\n", r.Commit)
	}
	for i := range r.Results {
		res := &r.Results[i]
		for _, ops := range res.OpsPerSecond {
			// One iteration: a round is one sample, however long it was.
			fmt.Fprintf(&b, "Benchmark%s-%d\t1\t%.4g ns/op\t%.4g ops/s", title(res.Name()), m.Procs, nanoseconds(ops), ops)
			if res.BytesPerCounter > 0 {
				fmt.Fprintf(&b, "\t%.4g B/counter", res.BytesPerCounter)
			}
			if p := res.Latency; p != nil {
				fmt.Fprintf(&b, "\t%.4g p50-ns\t%.4g p99-ns", p.P50, p.P99)
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// title makes a name of a benchmark: what follows "Benchmark" must not begin
// with a small letter.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// csvColumns head what WriteCSV writes.
var csvColumns = []string{
	"workload", "impl", "stripes", "pick", "goroutines", "read_percent", "keys",
	"rounds", "disturbed", "ops_per_second_median", "ops_per_second_q1", "ops_per_second_q3",
	"latency_samples", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns",
	"bytes_per_counter", "stripe_skew",
}

// WriteCSV writes a row for each result, after one of headings. What was not
// measured is empty.
func (r *Report) WriteCSV(w io.Writer) error {
	if err := r.validate(); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	rows := [][]string{csvColumns}
	for i := range r.Results {
		rows = append(rows, r.Results[i].csvRow())
	}
	return out.WriteAll(rows)
}

func (r *Result) csvRow() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	known := func(v float64) string {
		if v == 0 {
			return ""
		}
		return number(v)
	}
	speed := r.Speed()
	row := []string{
		r.Workload, r.Impl, known(float64(r.Stripes)), r.Pick,
		strconv.Itoa(r.Goroutines), strconv.Itoa(r.ReadPercent), r.Keys,
		strconv.Itoa(len(r.OpsPerSecond)), strconv.Itoa(r.Disturbed),
		number(speed.Median), number(speed.Low), number(speed.High),
	}
	if p := r.Latency; p != nil {
		row = append(row, strconv.Itoa(p.Samples), number(p.P50), number(p.P90), number(p.P99), number(p.P999), number(p.Max))
	} else {
		row = append(row, "", "", "", "", "", "")
	}
	return append(row, known(r.BytesPerCounter), known(r.Skew()))
}
