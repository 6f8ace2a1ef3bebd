package rowstream

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

// A Fold turns rows into totals. Its state depends only on the set of rows that
// have been applied, not on their order or on how often each came. The zero Fold
// is empty and ready for use. It must not be copied after first use.
//
// A Fold is safe for concurrent use. It takes about 100 bytes for each counter's
// row, and a sketch for each series of distinct counts.
type Fold struct {
	mu       sync.RWMutex
	counters map[string]*counted
	uniques  map[string]*united
}

var _ snapshot.Reader = (*Fold)(nil)

// counted is a counter with the newest row of each origin.
type counted struct {
	key  snapshot.Key
	sum  int64 // of the rows' values
	rows map[origin]newest
}

type origin struct {
	writer  snapshot.WriterID
	created int64
}

type newest struct {
	seq   uint64
	value int64
}

// newer orders the rows of one origin. A writer does not give one seq to two
// values; if two writers share an id all the same, the order must still be one.
func (n newest) newer(o newest) bool {
	return cmp.Or(cmp.Compare(n.seq, o.seq), cmp.Compare(n.value, o.value)) > 0
}

// united is a series of distinct counts: a sketch for each scheme.
type united struct {
	key      snapshot.Key
	sketches map[hll.Scheme]*hll.Sketch
}

// Apply takes a row into account. It keeps nothing of r.Sketch. An error says that
// the sketch is broken, and changes nothing.
func (f *Fold) Apply(r Row) error {
	id := r.Key.String()
	if r.Sketch != nil {
		return f.applyUniques(id, &r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.counters[id]
	if c == nil {
		if f.counters == nil {
			f.counters = make(map[string]*counted)
		}
		c = &counted{key: r.Key, rows: make(map[origin]newest)}
		f.counters[id] = c
	}
	from, row := origin{r.Writer, r.Created}, newest{r.Seq, r.Value}
	if there, ok := c.rows[from]; !ok || row.newer(there) {
		c.sum += row.value - there.value
		c.rows[from] = row
	}
	return nil
}

func (f *Fold) applyUniques(id string, r *Row) error {
	sketch, err := decodeSketch(r)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
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

// Totals implements snapshot.Reader. It does not look at ctx.
func (f *Fold) Totals(_ context.Context, q snapshot.Query) ([]snapshot.Total, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	ids, err := page(f.counters, q)
	if err != nil {
		return nil, err
	}
	var totals []snapshot.Total
	for _, id := range ids {
		c := f.counters[id]
		writers := make(map[snapshot.WriterID]struct{})
		for from := range c.rows {
			writers[from.writer] = struct{}{}
		}
		totals = append(totals, snapshot.Total{Key: c.key, Value: c.sum, Writers: len(writers)})
	}
	return totals, nil
}

// Uniques implements snapshot.Reader. It does not look at ctx. A series whose
// writers hash in different ways has a total for each of them.
func (f *Fold) Uniques(_ context.Context, q snapshot.Query) ([]snapshot.UniquesTotal, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	ids, err := page(f.uniques, q)
	if err != nil {
		return nil, err
	}
	var totals []snapshot.UniquesTotal
	for _, id := range ids {
		u := f.uniques[id]
		schemes := slices.SortedFunc(maps.Keys(u.sketches), func(a, b hll.Scheme) int {
			return strings.Compare(a.String(), b.String())
		})
		for _, scheme := range schemes {
			totals = append(totals, snapshot.UniquesTotal{Key: u.key, Scheme: scheme, Sketch: u.sketches[scheme].Clone()})
		}
	}
	return totals, nil
}

// page returns the keys that q selects, in order.
func page[V any](series map[string]V, q snapshot.Query) ([]string, error) {
	if q.Limit < 0 {
		return nil, fmt.Errorf("hotcount/rowstream: Query.Limit %d is negative", q.Limit)
	}
	var ids []string
	for id := range series {
		if strings.HasPrefix(id, q.Prefix) && (q.After == "" || id > q.After) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), cmp.Or(q.Limit, snapshot.DefaultLimit))], nil
}
