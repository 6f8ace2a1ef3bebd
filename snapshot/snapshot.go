package snapshot

import (
	"iter"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
)

// A Snapshot is the state of one writer. It is plain data and safe to read from
// any number of goroutines; its owner may reuse it once they are done.
//
// Rows are not one point in time: each is read on its own while writers go on.
// A row holds every add that returned before the snapshot began, and may hold
// adds made since.
type Snapshot struct {
	Writer  WriterID
	Seq     uint64    // 1 for a writer's first snapshot, then growing
	Started time.Time // when the writer started
	Taken   time.Time // when this snapshot began

	Counters []CounterRow
	Uniques  []UniquesRow
	Gauges   []GaugeRow

	Windows        []WindowRows
	UniquesWindows []UniquesWindowRows

	// Final holds the last values of counters that have left the engine
	// because they were idle. A row stays here, unchanged, until a snapshot
	// that holds it has been acknowledged by every sink. A series that comes
	// back is a new row in Counters with a later Created. Rows are told apart
	// by (Writer, Key, Created).
	Final []CounterRow

	// Retired and Folded are a keeping sink's own, filled in what it gives
	// back, and empty in what a Source gives.

	// Retired holds, per series, the sum of the rows that were Final once
	// and that every sink has acknowledged. A sink that was given those
	// rows must not be given them again, so only totals count them.
	Retired []CounterRow

	// Folded lists the writers whose rows have been added up in the rows of
	// this snapshot, which then has the zero WriterID.
	Folded []Fold

	// Skipped is how many frames of unknown kinds ReadFrom has passed over:
	// if not 0, a newer program wrote the snapshot and it held more.
	Skipped int
}

// Reset empties s and keeps the memory of its rows for the next use.
func (s *Snapshot) Reset() {
	clear(s.Counters)
	clear(s.UniquesWindows)
	// Uniques and Windows keep theirs, for AppendUniques and AppendWindow.
	clear(s.Gauges)
	clear(s.Final)
	clear(s.Retired)
	*s = Snapshot{
		Counters: s.Counters[:0],
		Uniques:  s.Uniques[:0],
		Windows:  s.Windows[:0],

		UniquesWindows: s.UniquesWindows[:0],

		Gauges:  s.Gauges[:0],
		Final:   s.Final[:0],
		Retired: s.Retired[:0],
		Folded:  s.Folded[:0],
	}
}

// A CounterRow is the count of one series since Created.
type CounterRow struct {
	Key     series.Key
	Created int64 // Unix nanoseconds
	Value   int64
}

// AllCounters yields every counter row whatever its standing: Counters, Final
// and Retired. The sum of a series' rows over all writers is its lifetime total.
func (s *Snapshot) AllCounters() iter.Seq[CounterRow] {
	return func(yield func(CounterRow) bool) {
		for _, rows := range [...][]CounterRow{s.Counters, s.Final, s.Retired} {
			for _, c := range rows {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// A UniquesRow is one series' sketch in the format of hll.Sketch's
// AppendBinary. A series may have several rows; its count is that of their
// union.
type UniquesRow struct {
	Key     series.Key
	Created int64 // Unix nanoseconds

	// Scheme tells how elements were hashed. The union of sketches of
	// different schemes means nothing.
	Scheme hll.Scheme
	Sketch []byte
}

// AppendUniques appends a row for a sketch to s.Uniques, reusing the memory of a
// row that was there before Reset.
func (s *Snapshot) AppendUniques(k series.Key, created int64, sketch *hll.Sketch) {
	var buf []byte
	if n := len(s.Uniques); n < cap(s.Uniques) {
		buf = s.Uniques[:n+1][n].Sketch[:0]
	}
	buf, _ = sketch.AppendBinary(buf) // the error is always nil
	s.Uniques = append(s.Uniques, UniquesRow{Key: k, Created: created, Scheme: sketch.Scheme(), Sketch: buf})
}

// A Fold says that another writer's rows, as they were in its snapshot Seq, are
// part of a sum.
type Fold struct {
	Writer WriterID
	Seq    uint64
}

// A GaugeRow is a reading that must not be summed over writers: the engine's
// own health, such as skew.
type GaugeRow struct {
	Key   series.Key
	Value float64
}
