package text

import (
	"io"
	"strings"
	"unicode/utf8"
)

// A Table writes cells in columns. Cells should be Printable.
type Table struct {
	right []bool // by column: flush right, as numbers are
	rows  [][]string
}

// NewTable returns a table with these headings. A column whose heading begins
// with > is flush right.
func NewTable(headings ...string) *Table {
	t := &Table{right: make([]bool, len(headings))}
	row := make([]string, len(headings))
	for i, h := range headings {
		row[i], t.right[i] = strings.CutPrefix(h, ">")
	}
	t.rows = append(t.rows, row)
	return t
}

// Row adds a row, with a cell for each heading.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns how many rows there are beside the headings.
func (t *Table) Len() int { return len(t.rows) - 1 }

// Write writes the table with indent before each row.
func (t *Table) Write(w io.Writer, indent string) error {
	widths := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		line := indent
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line += "  "
			}
			if t.right[i] {
				line += pad + cell
			} else {
				line += cell + pad
			}
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
