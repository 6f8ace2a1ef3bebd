package size

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount/internal/text"
)

// WriteText writes the plan for people.
func (p *Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s series, the busiest at %s, on %s\n\n", strings.ToUpper(p.Ask.Kind[:1])+p.Ask.Kind[1:],
		count64(p.Ask.Series), rate(p.Ask.Peak), text.Count(int64(p.Costs.Processors), "processor"))
	line := func(what, is string) { fmt.Fprintf(&b, "  %-16s  %s\n", what, is) }
	line("one stripe takes", rate(p.Costs.Ceiling))
	switch {
	case p.Sketch != nil:
		line("stripes", "none are needed: a sketch is written without a lock")
		line("sketch", fmt.Sprintf("precision %d, standard error %s", p.Sketch.Precision, percent(p.Sketch.Error)))
	case p.OneAtomic:
		line("stripes", fmt.Sprintf("N = 1: one atomic is enough, at %s of what it takes", percent(p.Load)))
	case p.enough():
		line("stripes", fmt.Sprintf("N = %s, at %s of what they take; a hot counter makes %s, one for each processor",
			count(p.Stripes), percent(p.Load), count(p.Made)))
	default:
		line("stripes", fmt.Sprintf("N = %s, more than %s make use of: this peak is out of their reach",
			count(p.Stripes), text.Count(int64(p.Costs.Processors), "processor")))
	}
	if p.Buckets != nil {
		line("buckets", fmt.Sprintf("%s of %v", count(p.Buckets.Number), p.Buckets.Resolution))
	}
	memory := fmt.Sprintf("%s a series, %s in all", size(p.Memory.Series), size(p.Memory.All))
	if p.Memory.Hot > 0 {
		memory += fmt.Sprintf("; %s more for each that is hot", size(p.Memory.Hot))
	}
	line("memory", memory)
	line("a read", fmt.Sprintf("%s of %s, %s; %s reads/s take %s of a processor", text.Count(int64(p.Read.Lines), "line"),
		nanos(p.Costs.Line), nanos(p.Read.Nanos), number(p.Ask.Reads), percent(p.Read.Share)))
	b.WriteByte('\n')
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return p.writeDecisions(w)
}

// cellWidth keeps the table within about 120 columns.
const cellWidth = 28

func (p *Plan) writeDecisions(w io.Writer) error {
	table := text.NewTable("Decision", "Solves", "Worsens", "Change it when…")
	for i, d := range p.Decisions {
		if i > 0 {
			table.Row("", "", "", "")
		}
		cells := [...][]string{wrap(d.Decision), wrap(d.Solves), wrap(d.Worsens), wrap(d.Change)}
		for i := 0; ; i++ {
			var row [len(cells)]string
			last := true
			for j, lines := range cells {
				if i < len(lines) {
					row[j], last = lines[i], false
				}
			}
			if last {
				break
			}
			table.Row(row[:]...)
		}
	}
	return table.Write(w, "")
}

func wrap(s string) []string { return text.Wrap(s, cellWidth) }

// number returns v with two or three digits that matter.
func number(v float64) string {
	switch {
	case v >= 1e15:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case v >= 100:
		return text.Group(int64(v + 0.5))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func count(n int) string     { return text.Group(int64(n)) }
func count64(n int64) string { return text.Group(n) }

// rate returns adds per second.
func rate(v float64) string { return scaled(v, 1000, "kMGTPE") + "adds/s" }

// scaled returns v, and a prefix if it is not small, each base times the one
// before.
func scaled(v, base float64, prefixes string) string {
	prefix := ""
	for _, next := range prefixes {
		if v < base {
			break
		}
		v, prefix = v/base, string(next)+" "
	}
	return number(v) + " " + prefix
}

// size returns bytes.
func size(bytes float64) string {
	if bytes < 1024 {
		return number(bytes) + " B"
	}
	return strings.TrimSuffix(scaled(bytes, 1024, "KMGTPE"), " ") + "iB"
}

// percent returns a share.
func percent(share float64) string {
	if share > 0 && share < leastShare {
		return "< " + number(100*leastShare) + " %"
	}
	return number(100*share) + " %"
}

// leastShare is the smallest share that is worth its digits.
const leastShare = 1e-5

// nanos returns a time.
func nanos(ns float64) string {
	for _, unit := range []string{"ns", "µs", "ms"} {
		if ns < 1000 {
			return number(ns) + " " + unit
		}
		ns /= 1000
	}
	return number(ns) + " s"
}
