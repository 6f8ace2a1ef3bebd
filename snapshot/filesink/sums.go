package filesink

import (
	"errors"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// uniqueSums unites sketches by key and scheme.
type uniqueSums struct {
	rows []snapshot.UniquesRow
	at   map[uniqueSum]int // the newest row of each
}

type uniqueSum struct {
	key    series.Key
	scheme hll.Scheme
}

// add unites u with what is there. What cannot be united is kept beside.
func (t *uniqueSums) add(u snapshot.UniquesRow) {
	if t.at == nil {
		t.at = map[uniqueSum]int{}
	}
	id := uniqueSum{u.Key, u.Scheme}
	if i, ok := t.at[id]; ok {
		r := &t.rows[i]
		if sketch, err := union(r.Sketch, u.Sketch); err == nil {
			r.Sketch = sketch
			r.Created = min(r.Created, u.Created)
			return
		}
	}
	t.at[id] = len(t.rows)
	t.rows = append(t.rows, u)
}

// union returns the union of two sketches of one scheme, at the lower of their
// precisions.
func union(a, b []byte) ([]byte, error) {
	var x, y hll.Sketch // the zero scheme serves for any, as both have the same
	if err := errors.Join(x.UnmarshalBinary(a), y.UnmarshalBinary(b)); err != nil {
		return nil, err
	}
	if x.Options().Precision > y.Options().Precision { // a finer one folds into a coarser
		return mergeInto(&y, &x)
	}
	return mergeInto(&x, &y)
}

func mergeInto(x, y *hll.Sketch) ([]byte, error) {
	if err := x.Merge(y); err != nil {
		return nil, err
	}
	return x.MarshalBinary()
}

// newest keeps the window of each series that was taken last: a window contains
// those of the runs before it.
type newest[W any] struct {
	rows []W
	at   map[series.Key]newestRow
}

type newestRow struct {
	row   int
	taken time.Time
}

func (t *newest[W]) add(k series.Key, w W, taken time.Time) {
	if t.at == nil {
		t.at = map[series.Key]newestRow{}
	}
	n, ok := t.at[k]
	switch {
	case !ok:
		t.at[k] = newestRow{len(t.rows), taken}
		t.rows = append(t.rows, w)
	case taken.After(n.taken):
		t.rows[n.row] = w
		t.at[k] = newestRow{n.row, taken}
	}
}
