package rowstream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// A Fold turns messages into totals. Its state depends only on the set of messages
// that have been applied, not on their order or on how often each came. The zero
// Fold is empty and ready for use. It must not be copied after first use.
//
// A Fold is safe for concurrent use. It takes about 110 bytes for each row of a
// counter or a bucket, a sketch for each series of distinct counts, and about 60
// bytes for each writer, those that are gone too.
type Fold struct {
	mu       sync.RWMutex
	writers  map[snapshot.WriterID]stood
	counters map[string]*counted
	uniques  map[string]*united
	windows  map[string]map[bucketID]map[snapshot.WriterID]newest
}

var _ export.Reader = (*Fold)(nil)

// stood is what is known of a writer.
type stood struct {
	known bool
	gone  bool
	seq   uint64
	rows  int // counters' rows of it
}

// counted is a counter with the newest row of each origin.
type counted struct {
	key  series.Key
	rows map[origin]newest
}

type origin struct {
	writer  snapshot.WriterID
	created int64
}

type newest struct {
	seq          uint64
	value, prior int64
}

// newer orders the rows of one origin. A writer does not give one seq to two
// values; if two writers share an id all the same, the order must still be one.
func (n newest) newer(o newest) bool {
	return cmp.Or(cmp.Compare(n.seq, o.seq), cmp.Compare(n.value, o.value), cmp.Compare(n.prior, o.prior)) > 0
}

// Apply takes a message into account. It keeps nothing of sketches. An error says
// that a sketch is broken, and changes nothing.
func (f *Fold) Apply(m Message) error {
	sketches, err := decodeSketches(m.Rows)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Standing != nil {
		f.stand(m.Standing)
	}
	for i := range m.Rows {
		switch r := &m.Rows[i]; r.kind() {
		case kindUniques:
			err = cmp.Or(err, f.unite(r, sketches[i]))
		case kindBuckets:
			f.fill(r)
		default:
			f.count(r)
		}
	}
	return err
}

// stand takes note of how far a writer has got.
func (f *Fold) stand(s *Standing) {
	st := f.writers[s.Writer]
	st.known, st.seq = true, max(st.seq, s.Seq)
	f.know(s.Writer, st)
	var gone []snapshot.WriterID
	if s.Pending.IsZero() {
		gone = s.Folded
	}
	if s.Gone {
		gone = append(gone, s.Writer)
	}
	for _, w := range gone {
		st := f.writers[w]
		st.gone = true
		f.know(w, st)
	}
	if slices.ContainsFunc(gone, func(w snapshot.WriterID) bool { return f.writers[w].rows > 0 }) {
		f.bury()
	}
}

func (f *Fold) know(w snapshot.WriterID, st stood) {
	if f.writers == nil {
		f.writers = make(map[snapshot.WriterID]stood)
	}
	f.writers[w] = st
}

// bury forgets the rows of writers that are gone.
func (f *Fold) bury() {
	for id, c := range f.counters {
		for from := range c.rows {
			if st := f.writers[from.writer]; st.gone {
				delete(c.rows, from)
				st.rows--
				f.writers[from.writer] = st
			}
		}
		if len(c.rows) == 0 {
			delete(f.counters, id)
		}
	}
}

func (f *Fold) count(r *Row) {
	st := f.writers[r.Writer]
	if st.gone {
		return
	}
	id := r.Key.String()
	c := f.counters[id]
	if c == nil {
		if f.counters == nil {
			f.counters = make(map[string]*counted)
		}
		c = &counted{key: r.Key, rows: make(map[origin]newest)}
		f.counters[id] = c
	}
	from, row := origin{r.Writer, r.Created}, newest{r.Seq, r.Value, r.Prior}
	there, ok := c.rows[from]
	if !ok {
		st.rows++
		f.know(r.Writer, st)
	}
	if !ok || row.newer(there) {
		c.rows[from] = row
	}
}

// settled returns what counts of a writer's newest row.
func (f *Fold) settled(w snapshot.WriterID, n newest) int64 {
	if st := f.writers[w]; st.known && n.seq > st.seq {
		return n.prior
	}
	return n.value
}

// Totals implements export.Reader. It does not look at ctx.
func (f *Fold) Totals(_ context.Context, q export.Query) ([]export.CounterTotal, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	ids, err := page(f.counters, q)
	if err != nil {
		return nil, err
	}
	var totals []export.CounterTotal
	for _, id := range ids {
		c := f.counters[id]
		t := export.CounterTotal{Key: c.key}
		writers := make(map[snapshot.WriterID]struct{})
		for from, row := range c.rows {
			t.Value += f.settled(from.writer, row)
			if !from.writer.IsZero() {
				writers[from.writer] = struct{}{}
			}
		}
		t.Writers = len(writers)
		totals = append(totals, t)
	}
	return totals, nil
}

// page returns the keys that q selects, in order.
func page[V any](series map[string]V, q export.Query) ([]string, error) {
	if q.Limit < 0 {
		return nil, fmt.Errorf("hotcount/rowstream: Query.Limit %d is negative", q.Limit)
	}
	var ids []string
	after := q.After.String()
	for id := range series {
		if strings.HasPrefix(id, q.Prefix) && (after == "" || id > after) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), cmp.Or(q.Limit, export.DefaultLimit))], nil
}
