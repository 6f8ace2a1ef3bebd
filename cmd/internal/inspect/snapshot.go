// Package inspect looks into snapshot files and directories of them, without
// changing anything and without a lock.
package inspect

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/snapshot"
)

// maxShown is how much of a series or name the tables show, in characters.
const maxShown = 120

// A Snapshot is what one file holds.
type Snapshot struct {
	File    string    `json:"file"`
	Size    int64     `json:"size"` // in bytes
	Writer  string    `json:"writer"`
	Base    bool      `json:"base,omitempty"` // a sum over earlier writers
	Seq     uint64    `json:"seq"`
	Started time.Time `json:"started"`
	Taken   time.Time `json:"taken"`

	Folded  []Folded `json:"folded,omitempty"`         // into a base
	Skipped int      `json:"skipped_frames,omitempty"` // that only a newer program knows
	Windows int      `json:"windows"`

	Counters []Counter `json:"counters"`
	Uniques  []Uniques `json:"uniques"`
	Gauges   []Gauge   `json:"gauges"`
}

// A Folded is a writer whose rows are part of a base.
type Folded struct {
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`
}

// A Counter is a row of a counter. One series may have several.
type Counter struct {
	Series  string    `json:"series"`
	Created time.Time `json:"created"`
	Value   int64     `json:"value"`
	State   string    `json:"state,omitempty"` // final, retired or nothing
}

// A Uniques is a row of a distinct count.
type Uniques struct {
	Series   string    `json:"series"`
	Created  time.Time `json:"created"`
	Estimate uint64    `json:"estimate"`
	Low      uint64    `json:"low"`
	High     uint64    `json:"high"`
	Scheme   string    `json:"scheme"`
	Error    string    `json:"error,omitempty"` // why there is no estimate
}

// A Gauge is a reading. It is text since JSON has no infinities.
type Gauge struct {
	Series string `json:"series"`
	Value  string `json:"value"`
}

// Read reads a snapshot file.
func Read(name string) (*Snapshot, error) {
	s, size, err := readFile(name)
	if err != nil {
		return nil, err
	}
	v := &Snapshot{
		File: name, Size: size, Writer: s.Writer.String(), Base: s.Writer.IsZero(), Seq: s.Seq,
		Started: s.Started.UTC(), Taken: s.Taken.UTC(),
		Skipped: s.Skipped, Windows: len(s.Windows),
		Counters: []Counter{}, Uniques: []Uniques{}, Gauges: []Gauge{},
	}
	for _, f := range s.Folded {
		v.Folded = append(v.Folded, Folded{f.Writer.String(), f.Seq})
	}
	for _, of := range []struct {
		state string
		rows  []snapshot.CounterRow
	}{{"", s.Counters}, {"final", s.Final}, {"retired", s.Retired}} {
		for _, c := range of.rows {
			v.Counters = append(v.Counters, Counter{c.Key.String(), time.Unix(0, c.Created).UTC(), c.Value, of.state})
		}
	}
	for _, u := range s.Uniques {
		v.Uniques = append(v.Uniques, uniquesOf(u))
	}
	for _, g := range s.Gauges {
		v.Gauges = append(v.Gauges, Gauge{g.Key.String(), fmt.Sprint(g.Value)})
	}
	slices.SortStableFunc(v.Counters, func(a, b Counter) int { return strings.Compare(a.Series, b.Series) })
	slices.SortStableFunc(v.Uniques, func(a, b Uniques) int { return strings.Compare(a.Series, b.Series) })
	slices.SortStableFunc(v.Gauges, func(a, b Gauge) int { return strings.Compare(a.Series, b.Series) })
	return v, nil
}

func readFile(name string) (s *snapshot.Snapshot, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	s = new(snapshot.Snapshot)
	size, err = s.ReadFrom(f)
	if err != nil {
		return nil, size, fmt.Errorf("%s: %w", name, err)
	}
	return s, size, nil
}

func uniquesOf(row snapshot.UniquesRow) Uniques {
	u := Uniques{Series: row.Key.String(), Created: time.Unix(0, row.Created).UTC(), Scheme: row.Scheme.String()}
	var sketch hll.Sketch
	if err := sketch.UnmarshalBinary(row.Sketch); err != nil {
		u.Error = err.Error()
		return u
	}
	e := sketch.Estimate()
	u.Estimate, u.Low, u.High = e.Count, e.Low, e.High
	return u
}

// WriteTable writes what a file holds for people, the first rows of each kind.
func (s *Snapshot) WriteTable(w io.Writer, rows int) error {
	p := &printer{w: w}
	p.line("%s: %s", safetext.Printable(s.File, maxShown), text.Count(s.Size, "byte"))
	if s.Base {
		p.line("the base: the sum of %s, generation %d", text.Count(int64(len(s.Folded)), "earlier run"), s.Seq)
	} else {
		p.line("writer %s, seq %d", s.Writer, s.Seq)
	}
	p.line("started %s, taken %s", stamp(s.Started), stamp(s.Taken))
	p.line("%s, %s, %s, %s", text.Count(int64(len(s.Counters)), "counter row"), text.Count(int64(len(s.Uniques)), "distinct count"),
		text.Count(int64(s.Windows), "window"), text.Count(int64(len(s.Gauges)), "gauge"))
	if s.Skipped > 0 {
		p.line("A newer program wrote this file: %s are left out.", text.Count(int64(s.Skipped), "frame"))
	}

	t := text.NewTable(">count", "series", "")
	for _, c := range s.Counters[:min(rows, len(s.Counters))] {
		t.Row(text.Group(c.Value), safetext.Printable(c.Series, maxShown), c.State)
	}
	p.table(t, len(s.Counters))
	t = text.NewTable(">distinct", ">low", ">high", "series")
	for _, u := range s.Uniques[:min(rows, len(s.Uniques))] {
		if u.Error != "" {
			t.Row("?", "?", "?", safetext.Printable(u.Series+": "+u.Error, maxShown))
			continue
		}
		t.Row(text.Group(int64(u.Estimate)), text.Group(int64(u.Low)), text.Group(int64(u.High)), safetext.Printable(u.Series, maxShown))
	}
	p.table(t, len(s.Uniques))
	t = text.NewTable(">gauge", "series")
	for _, g := range s.Gauges[:min(rows, len(s.Gauges))] {
		t.Row(g.Value, safetext.Printable(g.Series, maxShown))
	}
	p.table(t, len(s.Gauges))
	return p.err
}

// A printer writes lines and tables and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// table writes a table that is not empty, after a blank line, and says how many
// of its rows are not there.
func (p *printer) table(t *text.Table, all int) {
	if t.Len() == 0 {
		return
	}
	p.line("")
	if p.err == nil {
		p.err = t.Write(p.w, "")
	}
	if n := all - t.Len(); n > 0 {
		p.line("and %s", text.Count(int64(n), "more row"))
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
