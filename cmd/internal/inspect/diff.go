package inspect

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/snapshot"
)

// A Diff is what differs between two snapshots.
type Diff struct {
	Before  string  `json:"before"` // file names
	After   string  `json:"after"`
	Seconds float64 `json:"seconds"` // from one to the other, negative if they are in the other order

	// SameWriter says that both are of one run, so that changes are what it
	// counted between them.
	SameWriter bool `json:"same_writer"`

	Same    int      `json:"same"`    // series that do not differ
	Changes []Change `json:"changes"` // in the order of their series
}

// A Change is a series that differs. A nil Before or After says that it is not
// in that snapshot.
type Change struct {
	Series string   `json:"series"`
	Kind   string   `json:"kind"` // counter or uniques
	Before *int64   `json:"before"`
	After  *int64   `json:"after"`
	Change int64    `json:"change"`
	Rate   *float64 `json:"per_second,omitempty"` // where it means something
}

// Compare reads two files and compares counters, with all rows of a series added
// up, and estimates of distinct counts. Gauges are of the moment and left out.
func Compare(before, after string) (*Diff, error) {
	a, _, err := readFile(before)
	if err != nil {
		return nil, err
	}
	b, _, err := readFile(after)
	if err != nil {
		return nil, err
	}
	d := &Diff{
		Before: before, After: after,
		Seconds:    b.Taken.Sub(a.Taken).Seconds(),
		SameWriter: a.Writer == b.Writer && !a.Writer.IsZero(),
		Changes:    []Change{},
	}
	d.compare("counter", counts(a), counts(b))
	d.compare("uniques", estimates(a), estimates(b))
	return d, nil
}

func (d *Diff) compare(kind string, before, after map[string]int64) {
	all := maps.Clone(after)
	maps.Copy(all, before)
	for _, series := range slices.Sorted(maps.Keys(all)) {
		x, inBefore := before[series]
		y, inAfter := after[series]
		if inBefore && inAfter && x == y {
			d.Same++
			continue
		}
		c := Change{Series: series, Kind: kind, Change: y - x}
		if inBefore {
			c.Before = &x
		}
		if inAfter {
			c.After = &y
		}
		if kind == "counter" && d.SameWriter && d.Seconds > 0 && inAfter {
			rate := float64(c.Change) / d.Seconds
			c.Rate = &rate
		}
		d.Changes = append(d.Changes, c)
	}
}

func counts(s *snapshot.Snapshot) map[string]int64 {
	sums := make(map[string]int64)
	for row := range s.AllCounters() {
		sums[row.Key.String()] += row.Value
	}
	return sums
}

func estimates(s *snapshot.Snapshot) map[string]int64 {
	of := make(map[string]int64)
	for _, row := range s.Uniques {
		of[row.Key.String()] = int64(uniquesOf(row).Estimate)
	}
	return of
}

// WriteTable writes the first changes for people.
func (d *Diff) WriteTable(w io.Writer, rows int) error {
	p := &printer{w: w}
	p.line("before: %s", safetext.Printable(d.Before, maxShown))
	p.line("after:  %s, %s s later", safetext.Printable(d.After, maxShown), number(d.Seconds))
	if !d.SameWriter {
		p.line("They are not two snapshots of one run, so there are no rates.")
	}
	p.line("%s series differ, %s do not", text.Group(int64(len(d.Changes))), text.Group(int64(d.Same)))
	t := text.NewTable(">before", ">after", ">change", ">per second", "series")
	for _, c := range d.Changes[:min(rows, len(d.Changes))] {
		rate := ""
		if c.Rate != nil {
			rate = number(*c.Rate)
		}
		t.Row(optional(c.Before), optional(c.After), signed(c.Change), rate, safetext.Printable(c.Series, maxShown))
	}
	p.table(t, len(d.Changes))
	return p.err
}

func optional(n *int64) string {
	if n == nil {
		return "-"
	}
	return text.Group(*n)
}

func signed(n int64) string {
	if n > 0 {
		return "+" + text.Group(n)
	}
	return text.Group(n)
}

// number returns x with three significant digits, or all those before the point.
func number(x float64) string {
	if x >= 100 || x <= -100 {
		return text.Group(int64(x))
	}
	return fmt.Sprintf("%.3g", x)
}
