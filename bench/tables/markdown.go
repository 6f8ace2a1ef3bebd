package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// A pivot is a table that results are sorted into. Rows and columns are in the
// order in which they came.
type pivot struct {
	corner        string
	rows, columns []string
	cells         map[[2]string]string
	words         string // the column that is no numbers
}

func newPivot(corner string) *pivot {
	return &pivot{corner: corner, cells: make(map[[2]string]string)}
}

// set sets a cell that has not been set yet: results of hotcount's own layout
// come before others.
func (p *pivot) set(row, column, value string) {
	if !slices.Contains(p.rows, row) {
		p.rows = append(p.rows, row)
	}
	if !slices.Contains(p.columns, column) {
		p.columns = append(p.columns, column)
	}
	if _, ok := p.cells[[2]string{row, column}]; !ok {
		p.cells[[2]string{row, column}] = value
	}
}

// markdown writes the table, and says so where there is nothing to write.
func (p *pivot) markdown() string {
	if len(p.rows) == 0 {
		return "The result file has none of these.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|", p.corner, strings.Join(p.columns, " | "))
	for _, column := range p.columns {
		if column == p.words {
			b.WriteString("---|")
		} else {
			b.WriteString("--:|")
		}
	}
	b.WriteByte('\n')
	for _, row := range p.rows {
		fmt.Fprintf(&b, "| %s |", row)
		for _, column := range p.columns {
			fmt.Fprintf(&b, " %s |", p.cells[[2]string{row, column}])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// source says where and how the numbers of a table were measured.
func source(r *bench.Report) string {
	m := r.Machine
	s := fmt.Sprintf("%s, %s, GOMAXPROCS %d; %s, %s/%s; ", escape(m.CPU), count(m.Cores, "core"), m.Procs, escape(m.Go), escape(m.OS), escape(m.Arch))
	if r.Commit != "" {
		s += "commit " + code(r.Commit) + "; "
	}
	return s + fmt.Sprintf("%s; %s, %s.", r.Date.UTC().Format(time.DateOnly), code(r.Command), count(r.Samples, "round"))
}

// escape keeps text from meaning anything in Markdown or HTML.
func escape(s string) string {
	return strings.NewReplacer("|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;").Replace(plain.Replace(s))
}

// plain is html.EscapeString without the quotes, which are text here.
var plain = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// code writes text as code, which has no escapes of its own.
func code(s string) string { return "<code>" + escape(s) + "</code>" }

// rate writes millions per second and the spread between the rounds.
func rate(r *bench.Result) string {
	s := r.Speed()
	mark := ""
	if r.Disturbed > 0 {
		mark = `\*`
	}
	return fmt.Sprintf("%s ±%.0f %%%s", show.Short(s.Median/1e6), 50*s.Spread(), mark)
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// fastestFirst sorts results by their medians.
func fastestFirst(results []*bench.Result) {
	slices.SortStableFunc(results, func(a, b *bench.Result) int { return cmp.Compare(b.Speed().Median, a.Speed().Median) })
}
