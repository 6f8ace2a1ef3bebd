package hotcount

import (
	"iter"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// Restored says what an engine found when it started.
type Restored struct {
	Runs   int       // earlier runs whose counts go on
	Series int       // series that they left
	Taken  time.Time // when the newest of their snapshots was taken
}

// Restored returns what the engine found in its Dir when it started. It is the
// zero value if there was nothing.
func (e *Engine) Restored() Restored { return e.previous }

// Totals yields every counter with its total over this run and those restored,
// the restored ones that nobody has asked for in this run included, in no
// particular order. Each total is as Counter.Value says. What a series counted
// before it was retired is not in it; one that comes back is there from the next
// snapshot on. The engine's own health series are left out.
func (e *Engine) Totals() iter.Seq2[series.Key, int64] {
	return func(yield func(series.Key, int64) bool) {
		// The restored first: a series made meanwhile takes its total out of
		// them once it is in the index, and so is seen there, here, or both.
		left := e.leftovers()
		for s := range e.index.All {
			if s.fam.kind != counters {
				continue
			}
			delete(left[s.fam.restored], s.labels)
			if !yield(s.key(), s.total()) {
				return
			}
		}
		for r, totals := range left {
			for labels, n := range totals {
				if !yield(keyOf(r.desc, labels), n) {
					return
				}
			}
		}
	}
}

// leftovers returns copies of the restored totals that no series has taken up.
func (e *Engine) leftovers() map[*restored]map[string]int64 {
	left := make(map[*restored]map[string]int64)
	for _, r := range e.restored {
		r.mu.Lock()
		left[r] = maps.Clone(r.totals)
		r.mu.Unlock()
	}
	return left
}

// restored is what earlier runs counted in one family, by packed label values,
// as far as no series of this run has taken it up. A nil restored is empty.
type restored struct {
	desc series.Desc

	mu       sync.Mutex
	totals   map[string]int64
	sketches map[string][]snapshot.UniquesRow

	windows        map[string]newest[[]window.Row]
	uniquesWindows map[string]newest[[]window.SketchRow]
}

// newest is the newest of what earlier runs left of one window: it contains that
// of the runs before.
type newest[R any] struct {
	rows  R
	taken time.Time
}

func keepNewest[R any](m map[string]newest[R], labels string, rows R, taken time.Time) {
	if n, ok := m[labels]; !ok || taken.After(n.taken) {
		m[labels] = newest[R]{rows, taken}
	}
}

// total returns the restored total of a counter.
func (r *restored) total(labels string) int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.totals[labels]
}

// rows returns the restored sketches of a series of uniques.
func (r *restored) rows(labels string) []snapshot.UniquesRow {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sketches[labels]
}

// takeWindow returns the restored rows of a window, once.
func (r *restored) takeWindow(labels string) []window.Row {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.windows[labels]
	delete(r.windows, labels)
	return w.rows
}

// takeUniquesWindow does the same for a window of uniques.
func (r *restored) takeUniquesWindow(labels string) []window.SketchRow {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.uniquesWindows[labels]
	delete(r.uniquesWindows, labels)
	return w.rows
}

// takenUp forgets what belongs to a series that is in the index now.
func (r *restored) takenUp(k kind, labels string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k == uniques {
		delete(r.sketches, labels)
	} else {
		delete(r.totals, labels)
	}
}

// restore adds up the rows that earlier runs left.
func (e *Engine) restore(previous []*snapshot.Snapshot) {
	e.restored = make(map[series.Desc]*restored)
	in := func(k series.Key) *restored { return e.restoredFor(k.Desc()) }
	for _, s := range previous {
		e.previous.Runs += max(1, len(s.Folded))
		if s.Taken.After(e.previous.Taken) {
			e.previous.Taken = s.Taken
		}
		for row := range s.AllCounters() {
			in(row.Key).totals[row.Key.Packed()] += row.Value
		}
		for _, row := range s.Uniques {
			sketches := in(row.Key).sketches
			sketches[row.Key.Packed()] = append(sketches[row.Key.Packed()], row)
		}
		for _, row := range s.Windows {
			keepNewest(in(row.Key).windows, row.Key.Packed(), row.Rows, s.Taken)
		}
		for _, row := range s.UniquesWindows {
			keepNewest(in(row.Key).uniquesWindows, row.Key.Packed(), row.Rows, s.Taken)
		}
	}
	for _, r := range e.restored {
		e.previous.Series += len(r.totals) + len(r.sketches)
	}
}

// restoredFor returns where to add up the rows of a family. What becomes of the
// engine's own series is lost: health is about one run.
func (e *Engine) restoredFor(d series.Desc) *restored {
	if r := e.restored[d]; r != nil {
		return r
	}
	r := &restored{desc: d, totals: make(map[string]int64), sketches: make(map[string][]snapshot.UniquesRow),
		windows: make(map[string]newest[[]window.Row]), uniquesWindows: make(map[string]newest[[]window.SketchRow])}
	if !strings.HasPrefix(d.Name(), reservedPrefix) {
		e.restored[d] = r
	}
	return r
}
