package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"

	"github.com/hotcount/hotcount/bench"
)

// A Figure is one chart of a report.
type Figure struct {
	Workload string // that it belongs to
	Title    string // what it shows, in a line
	Text     string // what there is to see, in sentences

	width, height vg.Length
	content       []byte // SVG elements, without the root
}

// Figures draws what there is to draw in a report, workload by workload. A report
// of single points has no figures.
func Figures(r *bench.Report) ([]Figure, error) {
	var all []Figure
	for _, s := range series(r) {
		for _, draw := range []func(set) ([]Figure, error){throughputFigure, layoutFigures, shareFigures} {
			figures, err := draw(s)
			if err != nil {
				return nil, fmt.Errorf("hotcount/bench/plot: draw %s: %w", s.workload, err)
			}
			all = append(all, figures...)
		}
	}
	return all, nil
}

// WriteSVG writes the figure as a file of its own.
func (f *Figure) WriteSVG(w io.Writer) error {
	_, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+f.svg("figure", true))
	return err
}

// conditions are what results have in common that belong into one figure.
type conditions struct {
	workload string
	reads    int
	keys     string
}

// String says the conditions in words.
func (c conditions) String() string {
	s := printable(c.workload) + ", "
	switch c.keys {
	case bench.One.String():
		s += "one counter"
	case bench.Zipf.String():
		s += "1,000 counters, some busy (Zipf)"
	case bench.Uniform.String():
		s += "1,000 counters, evenly"
	default:
		s += "keys " + printable(c.keys)
	}
	if c.reads > 0 {
		s += fmt.Sprintf(", %d %% reads", c.reads)
	}
	return s
}

// A set is the results of some conditions that have a speed.
type set struct {
	conditions
	results []*bench.Result
}

// series divides a report into sets, each workload's together, in the order in
// which they appear.
func series(r *bench.Report) []set {
	var sets []set
	at := make(map[conditions]int)
	first := make(map[string]int)
	for i := range r.Results {
		res := &r.Results[i]
		if _, ok := speed(res); !ok || res.Goroutines < 1 {
			continue
		}
		c := conditions{res.Workload, res.ReadPercent, res.Keys}
		n, ok := at[c]
		if !ok {
			n = len(sets)
			at[c] = n
			sets = append(sets, set{conditions: c})
			if _, ok := first[c.workload]; !ok {
				first[c.workload] = n
			}
		}
		sets[n].results = append(sets[n].results, res)
	}
	slices.SortStableFunc(sets, func(a, b set) int { return cmp.Compare(first[a.workload], first[b.workload]) })
	return sets
}

// speed summarizes those samples of a result that are a speed, in millions of
// operations per second, and reports whether there are any.
func speed(r *bench.Result) (bench.Summary, bool) {
	samples := slices.DeleteFunc(slices.Clone(r.OpsPerSecond), func(v float64) bool {
		return math.IsNaN(v) || math.IsInf(v, 0) || v <= 0
	})
	s := bench.Summarize(samples)
	const million = 1e6
	return bench.Summary{Median: s.Median / million, Low: s.Low / million, High: s.High / million}, len(samples) > 0
}

// printable replaces what neither SVG nor people can read. The writers of SVG and
// HTML escape the rest.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// grouped writes a whole number with commas.
func grouped[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
