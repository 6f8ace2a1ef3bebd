// Package lifetime adds up what a directory of snapshots holds: the base and
// every writer's newest snapshot, as an engine that starts there would, but
// without a lock and without changing anything.
package lifetime

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// Totals are the lifetime totals of a directory. Rows are in the order of their
// series' text form; the engine's own series are among them.
type Totals struct {
	Counters []Counter
	Uniques  []Uniques
	Windows  []snapshot.WindowRows // the newest of each series

	Runs    int // whose rows went into the totals
	Seq     uint64
	Started time.Time // of the first run
	Taken   time.Time // the newest snapshot
	Damaged []filesink.Damage
}

// A Counter is the total of a series.
type Counter struct {
	Text    string // of Key
	Key     series.Key
	Created int64 // Unix nanoseconds
	Value   int64
	Writers int // beside the base
}

// A Uniques is the union of a series' sketches. A series whose elements were
// hashed by different schemes has one for each.
type Uniques struct {
	Text    string // of Key
	Key     series.Key
	Created int64 // Unix nanoseconds
	Scheme  hll.Scheme
	Sketch  *hll.Sketch
}

// Load adds up what dir holds. A damaged file that an older one stands in for
// is listed in Damaged; for errors see filesink.Load.
func Load(dir string) (*Totals, error) {
	snapshots, damaged, err := filesink.Load(dir)
	if err != nil {
		return nil, err
	}
	t, err := Sum(snapshots)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	t.Damaged = damaged
	return t, nil
}

// Sum adds up snapshots, each of another writer. It is an error if a sketch in
// them cannot be read.
func Sum(snapshots []*snapshot.Snapshot) (*Totals, error) {
	s := sums{
		counters: make(map[string]*Counter),
		uniques:  make(map[uniquesID]*Uniques),
		windows:  make(map[string]window),
	}
	t := new(Totals)
	for i, part := range snapshots {
		if err := s.add(part); err != nil {
			return nil, err
		}
		t.Runs += max(1, len(part.Folded))
		t.Seq += rank(part)
		if i == 0 || part.Started.Before(t.Started) {
			t.Started = part.Started
		}
		if part.Taken.After(t.Taken) {
			t.Taken = part.Taken
		}
	}
	for _, c := range s.counters {
		t.Counters = append(t.Counters, *c)
	}
	slices.SortFunc(t.Counters, func(a, b Counter) int { return strings.Compare(a.Text, b.Text) })
	for _, u := range s.uniques {
		t.Uniques = append(t.Uniques, *u)
	}
	slices.SortFunc(t.Uniques, func(a, b Uniques) int {
		return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(a.Created, b.Created))
	})
	for _, w := range s.windows {
		t.Windows = append(t.Windows, w.WindowRows)
	}
	slices.SortFunc(t.Windows, func(a, b snapshot.WindowRows) int { return a.Key.Compare(b.Key) })
	return t, nil
}

// rank is what a snapshot adds to Totals.Seq, which so grows with every
// snapshot that its directory is given: a fold makes the base's greater by one
// and takes away what writers had, which is less than runSeqs.
func rank(s *snapshot.Snapshot) uint64 {
	const runSeqs = 1 << 32 // one a second for 136 years
	if s.Writer.IsZero() {
		return s.Seq * runSeqs
	}
	return s.Seq
}

// sums are the rows of Totals while they are added up.
type sums struct {
	counters map[string]*Counter
	uniques  map[uniquesID]*Uniques
	windows  map[string]window
}

type uniquesID struct {
	text   string
	scheme hll.Scheme
}

type window struct {
	snapshot.WindowRows
	taken time.Time
}

func (s *sums) add(part *snapshot.Snapshot) error {
	own := make(map[*Counter]bool) // counted in Writers
	for row := range part.AllCounters() {
		text := row.Key.String()
		c := s.counters[text]
		if c == nil {
			c = &Counter{Text: text, Key: row.Key, Created: row.Created}
			s.counters[text] = c
		}
		c.Value += row.Value
		c.Created = min(c.Created, row.Created)
		if !part.Writer.IsZero() && !own[c] {
			own[c] = true
			c.Writers++
		}
	}
	for _, row := range part.Uniques {
		if err := s.unite(row); err != nil {
			return err
		}
	}
	for _, w := range part.Windows {
		if text := w.Key.String(); s.windows[text].taken.Before(part.Taken) {
			s.windows[text] = window{w, part.Taken}
		}
	}
	return nil
}

func (s *sums) unite(row snapshot.UniquesRow) error {
	// The zero options serve for any scheme: only equal ones are merged.
	sketch := new(hll.Sketch)
	if err := sketch.UnmarshalBinary(row.Sketch); err != nil {
		return fmt.Errorf("%v: %w", row.Key, err)
	}
	id := uniquesID{row.Key.String(), row.Scheme}
	u := s.uniques[id]
	if u == nil {
		s.uniques[id] = &Uniques{id.text, row.Key, row.Created, row.Scheme, sketch}
		return nil
	}
	u.Created = min(u.Created, row.Created)
	// A finer sketch folds into a coarser one, not the other way round.
	if u.Sketch.Options().Precision > sketch.Options().Precision {
		u.Sketch, sketch = sketch, u.Sketch
	}
	return u.Sketch.Merge(sketch)
}

// Snapshot returns the totals as the one snapshot of a writer. Given the same
// writer each time, it replaces what an earlier snapshot of the directory said.
func (t *Totals) Snapshot(w snapshot.WriterID) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Writer: w, Seq: t.Seq, Started: t.Started, Taken: t.Taken, Windows: t.Windows}
	for _, c := range t.Counters {
		s.Counters = append(s.Counters, snapshot.CounterRow{Key: c.Key, Created: c.Created, Value: c.Value})
	}
	for _, u := range t.Uniques {
		sketch, _ := u.Sketch.MarshalBinary() // the error is always nil
		s.Uniques = append(s.Uniques, snapshot.UniquesRow{Key: u.Key, Created: u.Created, Scheme: u.Scheme, Sketch: sketch})
	}
	return s
}

// All yields every counter with its total.
func (t *Totals) All() iter.Seq2[series.Key, int64] {
	return func(yield func(series.Key, int64) bool) {
		for _, c := range t.Counters {
			if !yield(c.Key, c.Value) {
				return
			}
		}
	}
}
