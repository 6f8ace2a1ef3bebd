package hotcount

import (
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// Restored says what an engine found when it started.
type Restored struct {
	Runs   int       // earlier runs whose counts go on
	Series int       // counters that they left
	Taken  time.Time // when the newest of their snapshots was taken
}

// Restored returns what the engine found in its Dir when it started. It is the
// zero value if there was nothing.
func (e *Engine) Restored() Restored { return e.previous }

// Totals yields every counter with its total over this run and those restored,
// the restored ones that nobody has asked for in this run included, in no
// particular order. Each total is as Counter.Value says; the engine's own
// health series are left out.
func (e *Engine) Totals() iter.Seq2[snapshot.Key, int64] {
	return func(yield func(snapshot.Key, int64) bool) {
		// The restored first: a series made meanwhile takes its total out of
		// them, and then is either seen below, or still in this copy.
		left := e.leftovers()
		for s := range e.index.All {
			if s.fam.kind != counters {
				continue
			}
			if m := s.more.Load(); m != nil && m.prior != 0 {
				delete(left[familyID(s.fam.desc)].totals, s.labels)
			}
			if !yield(s.key(), s.total()) {
				return
			}
		}
		for _, r := range left {
			for labels, n := range r.totals {
				if !yield(r.desc.TrustedKey(labels), n) {
					return
				}
			}
		}
	}
}

// restored is what earlier runs counted in one family.
type restored struct {
	desc   *snapshot.Desc
	totals map[string]int64 // by packed label values
}

// familyID returns a string that tells descriptions apart: no name holds the
// separator.
func familyID(d *snapshot.Desc) string {
	return d.Name() + "{" + strings.Join(d.Labels(), ",")
}

// restore adds up the rows that earlier runs left.
func (e *Engine) restore(previous []*snapshot.Snapshot) {
	e.restored = make(map[string]restored)
	known := make(map[*snapshot.Desc]restored) // rows of one file share Descs
	for _, s := range previous {
		e.previous.Runs += max(1, len(s.Folded))
		if s.Taken.After(e.previous.Taken) {
			e.previous.Taken = s.Taken
		}
		for row := range s.AllCounters() {
			r, ok := known[row.Key.Desc()]
			if !ok {
				r = e.restoredFor(row.Key.Desc())
				known[r.desc] = r
			}
			if r.totals != nil {
				r.totals[row.Key.Packed()] += row.Value
			}
		}
	}
	for _, r := range e.restored {
		e.previous.Series += len(r.totals)
	}
}

// restoredFor returns where to add up rows of a family. It has no totals if
// they are not to be added up: the engine's health is about one run.
func (e *Engine) restoredFor(d *snapshot.Desc) restored {
	if strings.HasPrefix(d.Name(), reservedPrefix) {
		return restored{desc: d}
	}
	id := familyID(d)
	if _, ok := e.restored[id]; !ok {
		e.restored[id] = restored{d, make(map[string]int64)}
	}
	return restored{d, e.restored[id].totals}
}

// adopt hands a new family the totals that earlier runs left for it.
func (e *Engine) adopt(f *family) {
	if f.kind != counters {
		return
	}
	e.restoring.Lock()
	defer e.restoring.Unlock()
	id := familyID(f.desc)
	f.restored = e.restored[id].totals
	delete(e.restored, id)
}

// leftovers returns copies of the restored totals that no series has taken up.
func (e *Engine) leftovers() map[string]restored {
	e.restoring.Lock()
	defer e.restoring.Unlock()
	left := make(map[string]restored)
	for id, r := range e.restored {
		left[id] = restored{r.desc, maps.Clone(r.totals)}
	}
	for f := range e.families.All {
		f.restoring.Lock()
		if len(f.restored) > 0 {
			left[familyID(f.desc)] = restored{f.desc, maps.Clone(f.restored)}
		}
		f.restoring.Unlock()
	}
	return left
}
