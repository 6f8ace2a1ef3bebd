package snapshot

import (
	"encoding/binary"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

// WindowRows are what was added to one series over the last while, in buckets of
// one or more resolutions. Rows that are Earlier were counted by earlier writers,
// which this one has taken over: within one directory the newest window of a
// series is the whole one, but a store that adds writers up leaves such rows out.
type WindowRows struct {
	Key  series.Key
	Rows []window.Row
}

// UniquesWindowRows are the same for distinct elements: a sketch for each bucket.
// A union may count an element twice, so a store takes all of its rows.
type UniquesWindowRows struct {
	Key  series.Key
	Rows []window.SketchRow
}

// AppendWindow appends the rows of w to s.Windows, reusing the memory of rows
// that were there before Reset.
func (s *Snapshot) AppendWindow(k series.Key, w interface {
	AppendRows([]window.Row) []window.Row
}) {
	var rows []window.Row
	if n := len(s.Windows); n < cap(s.Windows) {
		rows = s.Windows[:n+1][n].Rows[:0]
	}
	s.Windows = append(s.Windows, WindowRows{Key: k, Rows: w.AppendRows(rows)})
}

// The least bytes that a row takes, which bounds what a decoder reserves.
const (
	leastWindowRow  = 4             // four numbers
	leastUniquesRow = 2 + 1 + 8 + 1 // two numbers, a scheme, a length
)

func (e *encoder) addWindow(b []byte, w *WindowRows) ([]byte, error) {
	b, err := e.addKey(b, w.Key)
	if err == nil {
		err = room(b, len(w.Rows)*4*binary.MaxVarintLen64)
	}
	if err != nil {
		return b, err
	}
	b = binary.AppendUvarint(b, uint64(len(w.Rows)))
	var start int64
	for _, r := range w.Rows {
		b = binary.AppendUvarint(b, uint64(r.Resolution))
		b = binary.AppendVarint(b, r.Start-start)
		b = binary.AppendUvarint(b, uint64(r.Width)<<1|earlierBit(r.Earlier))
		b = binary.AppendVarint(b, r.Count)
		start = r.Start
	}
	return b, nil
}

func earlierBit(earlier bool) uint64 {
	if earlier {
		return 1
	}
	return 0
}

func takeWindow(c *cursor) WindowRows {
	w := WindowRows{Key: c.key()}
	w.Key = w.Key.Clone()
	w.Rows = make([]window.Row, c.length(leastWindowRow))
	var start int64
	for i := range w.Rows {
		resolution := time.Duration(c.uvarint())
		start += c.varint()
		width := c.uvarint()
		w.Rows[i] = window.Row{Resolution: resolution, Start: start, Width: time.Duration(width >> 1), Count: c.varint(), Earlier: width&1 == 1}
	}
	return w
}

func (e *encoder) addUniquesWindow(b []byte, w *UniquesWindowRows) ([]byte, error) {
	b, err := e.addKey(b, w.Key)
	if err != nil {
		return b, err
	}
	b = binary.AppendUvarint(b, uint64(len(w.Rows)))
	var start int64
	for _, r := range w.Rows {
		if err := room(b, len(r.Sketch)); err != nil {
			return b, err
		}
		b = binary.AppendVarint(b, r.Start-start)
		b = binary.AppendUvarint(b, uint64(r.Width))
		b = addScheme(b, r.Scheme)
		b = binary.AppendUvarint(b, uint64(len(r.Sketch)))
		b = append(b, r.Sketch...)
		start = r.Start
	}
	return b, nil
}

func takeUniquesWindow(c *cursor) UniquesWindowRows {
	w := UniquesWindowRows{Key: c.key()}
	w.Key = w.Key.Clone()
	w.Rows = make([]window.SketchRow, c.length(leastUniquesRow))
	var start int64
	for i := range w.Rows {
		start += c.varint()
		w.Rows[i] = window.SketchRow{Start: start, Width: time.Duration(c.uvarint()), Scheme: c.scheme(), Sketch: []byte(c.value())}
	}
	return w
}
