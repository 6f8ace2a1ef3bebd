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
	Series int       // series that they left
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

// restored is what earlier runs counted in one family, by packed label values.
type restored struct {
	desc     *snapshot.Desc
	totals   map[string]int64
	sketches map[string][]snapshot.Uniques
}

func newRestored(d *snapshot.Desc) restored {
	return restored{d, make(map[string]int64), make(map[string][]snapshot.Uniques)}
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
	in := func(k snapshot.Key) restored {
		r, ok := known[k.Desc()]
		if !ok {
			r = e.restoredFor(k.Desc())
			known[k.Desc()] = r
		}
		return r
	}
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
	}
	for _, r := range e.restored {
		e.previous.Series += len(r.totals) + len(r.sketches)
	}
}

// restoredFor returns where to add up the rows of a family. What becomes of the
// engine's own series is lost: health is about one run.
func (e *Engine) restoredFor(d *snapshot.Desc) restored {
	if strings.HasPrefix(d.Name(), reservedPrefix) {
		return newRestored(d)
	}
	id := familyID(d)
	if _, ok := e.restored[id]; !ok {
		e.restored[id] = newRestored(d)
	}
	return e.restored[id]
}

// adopt hands a new family what earlier runs left for it.
func (e *Engine) adopt(f *family) {
	e.restoring.Lock()
	defer e.restoring.Unlock()
	id := familyID(f.desc)
	f.restored = e.restored[id]
	delete(e.restored, id)
}

// leftovers returns copies of the restored totals that no series has taken up,
// by familyID.
func (e *Engine) leftovers() map[string]restored {
	e.restoring.Lock()
	defer e.restoring.Unlock()
	left := make(map[string]restored)
	for id, r := range e.restored {
		left[id] = restored{desc: r.desc, totals: maps.Clone(r.totals)}
	}
	for f := range e.families.All {
		f.restoring.Lock()
		if len(f.restored.totals) > 0 {
			left[familyID(f.desc)] = restored{desc: f.desc, totals: maps.Clone(f.restored.totals)}
		}
		f.restoring.Unlock()
	}
	return left
}
