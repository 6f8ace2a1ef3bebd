package rowstream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
)

// united is a series of distinct counts: a sketch for each scheme. Rows of writers
// that are gone do no harm in a union.
type united struct {
	key      series.Key
	sketches map[hll.Scheme]*hll.Sketch
}

// decodeSketches returns the rows' sketches by the rows' places.
func decodeSketches(rows []Row) (map[int]*hll.Sketch, error) {
	var all map[int]*hll.Sketch
	for i := range rows {
		if rows[i].Sketch == nil {
			continue
		}
		s, err := decodeSketch(&rows[i])
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make(map[int]*hll.Sketch)
		}
		all[i] = s
	}
	return all, nil
}

// decodeSketch returns a sketch without a seed, of which a row has only a print.
func decodeSketch(r *Row) (*hll.Sketch, error) {
	s, err := hll.New(hll.Options{Hash: r.Scheme.Hash})
	if err == nil {
		err = s.UnmarshalBinary(r.Sketch)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v: %w", ErrFormat, r.Key, err)
	}
	return s, nil
}

func (f *Fold) unite(r *Row, sketch *hll.Sketch) error {
	id := r.Key.String()
	u := f.uniques[id]
	if u == nil {
		if f.uniques == nil {
			f.uniques = make(map[string]*united)
		}
		u = &united{key: r.Key, sketches: make(map[hll.Scheme]*hll.Sketch)}
		f.uniques[id] = u
	}
	there := u.sketches[r.Scheme]
	if there == nil {
		u.sketches[r.Scheme] = sketch
		return nil
	}
	if sketch.Options().Precision < there.Options().Precision { // a union is as coarse as its coarsest part
		there, sketch = sketch, there
	}
	u.sketches[r.Scheme] = there
	return there.Merge(sketch)
}

// Uniques implements export.Reader. It does not look at ctx. A series whose
// writers hash in different ways has a total for each of them.
func (f *Fold) Uniques(_ context.Context, q export.Query) ([]export.UniquesTotal, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	ids, err := page(f.uniques, q)
	if err != nil {
		return nil, err
	}
	var totals []export.UniquesTotal
	for _, id := range ids {
		u := f.uniques[id]
		schemes := slices.SortedFunc(maps.Keys(u.sketches), func(a, b hll.Scheme) int {
			return strings.Compare(a.String(), b.String())
		})
		for _, scheme := range schemes {
			totals = append(totals, export.UniquesTotal{Key: u.key, Scheme: scheme, Sketch: u.sketches[scheme].Clone()})
		}
	}
	return totals, nil
}
