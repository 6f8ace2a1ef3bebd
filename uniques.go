package hotcount

import (
	"fmt"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// A Uniques counts distinct elements in one series of an Engine, approximately;
// see package hll for how well. It comes from Engine.Uniques or
// UniquesVec.With, is never nil, and stays valid for as long as it is held. All
// methods are safe for concurrent use.
//
// What earlier runs counted is part of it, if their Options.Uniques were the
// same: the engine merges their sketches into the new one.
type Uniques struct {
	series *entry
	sketch *hll.Sketch
}

// Add counts b unless it has been counted before.
func (u *Uniques) Add(b []byte) { u.sketch.Add(b) }

// AddString is Add for a string. The two count the same bytes once.
func (u *Uniques) AddString(s string) { u.sketch.AddString(s) }

// AddHash counts the element with this hash; see hll.Sketch.AddHash.
func (u *Uniques) AddHash(h uint64) { u.sketch.AddHash(h) }

// Estimate returns how many distinct elements were added, with bounds of two
// standard errors. It includes every Add that returned before.
func (u *Uniques) Estimate() hll.Estimate { return u.sketch.Estimate() }

// Sketch returns the sketch itself, to merge it with others. What is added to
// it is counted.
func (u *Uniques) Sketch() *hll.Sketch { return u.sketch }

// Key returns the name and labels of the series.
func (u *Uniques) Key() series.Key { return u.series.key() }

// Uniques returns the distinct count with this name and these labels, given as
// alternating names and values, in any order of names. The first call makes it.
// It panics as Counter does, takes no lock and allocates nothing once the
// series exists. Families are capped as those of counters; the overflow series
// then counts the distinct elements of all the series that found no room.
func (e *Engine) Uniques(name string, labels ...string) *Uniques {
	return e.lookUp(uniques, name, labels).more.Load().uniques
}

// A UniquesVec is a family of distinct counts that differ in label values. It is
// safe for concurrent use.
type UniquesVec struct{ vec }

// UniquesVec returns the family of distinct counts with this name and these
// label names. It panics as Counter does.
func (e *Engine) UniquesVec(name string, labels ...string) *UniquesVec {
	return &UniquesVec{e.vec(uniques, name, labels)}
}

// With returns the family's distinct count with these label values, as
// CounterVec.With does.
func (v *UniquesVec) With(values ...string) *Uniques {
	return v.with(values).more.Load().uniques
}

// newUniques returns the distinct count of a new series.
func (e *Engine) newUniques(s *entry) *Uniques {
	sketch, err := hll.New(e.sketches)
	if err != nil {
		panic(err) // New checked the options
	}
	u := &Uniques{series: s, sketch: sketch}
	for _, row := range s.fam.restored.rows(s.labels) {
		if err := mergeRow(sketch, row); err != nil {
			e.warn("hotcount: what an earlier run counted is not in the estimate; its snapshot still holds it", "series", s.key(), "error", err)
		}
	}
	return u
}

// mergeRow merges a restored sketch into one of the same scheme.
func mergeRow(sketch *hll.Sketch, row snapshot.UniquesRow) error {
	if row.Scheme != sketch.Scheme() {
		return fmt.Errorf("%w: the scheme is %v, not %v", hll.ErrScheme, row.Scheme, sketch.Scheme())
	}
	old, err := hll.New(sketch.Options())
	if err != nil {
		return err
	}
	if err := old.UnmarshalBinary(row.Sketch); err != nil {
		return err
	}
	return sketch.Merge(old)
}
