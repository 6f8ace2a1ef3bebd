package snapshot

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A Mirror is what a sink knows its store to hold of one source. It picks the
// rows to send: those that changed, or all of them after the store has lost
// some. It also stands in for the source's identity when the store no longer
// takes its writer id. A Mirror is not safe for concurrent use.
//
// The store keeps the Seq of the last snapshot that it holds of each writer in
// whole, and a row for each writer and series. A flush of a snapshot goes:
//
//	Follow(s)          whose snapshots come now
//	ask the store for the standing of Writer()
//	Settle(standing)   again from the line above while it returns false
//	Pick(s)            what to send under Writer() and s.Seq
//	make the store's standing s.Seq and Mark(), if it still is what it was
//	Hold(s)
//
// A flush may break off anywhere, and its writes may still arrive: the next one
// settles how it ended. The store applies a row by Created and Seq:
//
//	created > stored.created:  carry += stored.value; value, created, seq = row
//	created = stored.created:  value, seq = row, if seq > stored.seq
//	otherwise:                 nothing
//
// so rows may come twice, late and in any order. A series' total is the sum of
// carry + value over its writers. When a store adds up the rows of a dead writer,
// it must take them as they were at the writer's Seq, without a flush that never
// ended, and remember the Seq: with it, a writer that was only late knows what
// has been counted, and goes on under a new id from there.
//
// A Mirror takes about 100 bytes for each series of the source.
type Mirror struct {
	source WriterID
	writer WriterID

	acked flush // the last that the store holds, under writer
	tried flush // the one that has begun since, zero if none has

	counters map[rowID]held
	uniques  map[rowID]sketched
	sketches []Uniques // buffer of Pick
	rows     []Row     // buffer of Pick
}

// A flush is one snapshot on its way. Its mark tells it from that of a clone of
// this process, which has the same writer and may have the same seq.
type flush struct {
	seq  uint64
	mark Mark
}

type rowID struct {
	desc    *Desc // rows of one source share Descs
	packed  string
	created int64
}

// held is what the store holds of a counter's row.
type held struct {
	value  int64  // as of acked
	tried  int64  // as of tried
	offset int64  // the part of both that it holds under earlier ids
	picked uint64 // the last snapshot that had the row
	clean  bool   // no flush since acked may have left another value there
}

// sketched is the same for a sketch, by hash: equal bytes are equal sketches.
type sketched struct {
	hash   uint64
	tried  uint64
	picked uint64
	clean  bool
}

// A Row is one counter of one writer, as it goes to a store.
type Row struct {
	Key     Key
	Created int64 // Unix nanoseconds; a later one starts from zero again
	Value   int64 // since Created
}

// A Mark names one flush. It is random.
type Mark [16]byte

// A Standing is what a store says of a writer.
type Standing struct {
	Seq  uint64 // of the last snapshot that it holds in whole, 0 if none
	Mark Mark   // of the flush that brought it
	Dead bool   // the writer's rows have been added up; it must not send more
}

// Writer returns the id under which to send: the source's own, or one that
// Settle has made in its place.
func (m *Mirror) Writer() WriterID { return m.writer }

// Follow says that s is the next snapshot to send. One of another source makes
// the mirror start over.
func (m *Mirror) Follow(s *Snapshot) {
	if m.counters == nil || m.source != s.Writer {
		*m = Mirror{
			source:   s.Writer,
			writer:   s.Writer,
			counters: make(map[rowID]held),
			uniques:  make(map[rowID]sketched),
		}
	}
}

// Mark returns the mark of the flush that Pick began.
func (m *Mirror) Mark() Mark { return m.tried.mark }

// Settle takes note of what the store says of Writer, and reports whether to go
// on with Pick. If it reports false, the store has no use for the id any more,
// or somebody else uses it too; Writer has changed, and its standing is to be
// asked for.
func (m *Mirror) Settle(st Standing) bool {
	switch {
	case st.Mark == m.acked.mark:
	case st.Mark == m.tried.mark: // the answer was lost, not the flush
		m.hold()
	case st.Seq < m.acked.seq: // the store went back to an older state
		m.forget()
	default: // a clone of this process uses the id
		m.remint()
		return false
	}
	if st.Dead {
		m.remint()
		return false
	}
	return true
}

// forget makes Pick send everything that was counted under Writer.
func (m *Mirror) forget() {
	for id, h := range m.counters {
		h.value, h.clean = h.offset, false
		m.counters[id] = h
	}
	clear(m.uniques)
	m.acked = flush{}
}

// remint goes on under a new id: what the store holds, it holds under the old.
func (m *Mirror) remint() {
	m.writer = NewWriterID()
	for id, h := range m.counters {
		h.offset = h.value
		m.counters[id] = h
	}
	clear(m.uniques) // a union may hold an element twice
	m.acked, m.tried = flush{}, flush{}
}

// Pick returns the rows and sketches of s that the store does not hold, sorted
// by key. Both are valid until the next Pick.
func (m *Mirror) Pick(s *Snapshot) ([]Row, []Uniques) {
	m.tried = flush{s.Seq, Mark(NewWriterID())}
	m.rows = m.rows[:0]
	for _, counters := range [...][]Counter{s.Final, s.Counters} {
		for _, c := range counters {
			id := rowID{c.Key.desc, c.Key.packed, c.Created}
			h := m.counters[id]
			if !h.clean || h.value != c.Value {
				h.clean = false
				m.rows = append(m.rows, Row{c.Key, c.Created, c.Value - h.offset})
			}
			h.tried, h.picked = c.Value, s.Seq
			m.counters[id] = h
		}
	}
	slices.SortFunc(m.rows, func(a, b Row) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Created, b.Created))
	})

	m.sketches = m.sketches[:0]
	for _, u := range s.Uniques {
		id := rowID{u.Key.desc, u.Key.packed, u.Created}
		h := m.uniques[id]
		h.tried, h.picked = xxhash.Sum64(u.Sketch), s.Seq
		if !h.clean || h.hash != h.tried {
			h.clean = false
			m.sketches = append(m.sketches, u)
		}
		m.uniques[id] = h
	}
	slices.SortFunc(m.sketches, func(a, b Uniques) int { return a.Key.Compare(b.Key) })
	return m.rows, m.sketches
}

// Hold says that the store holds all of s.
func (m *Mirror) Hold(s *Snapshot) {
	if s.Seq == m.tried.seq {
		m.hold()
	}
}

// hold makes what was tried what is held. Rows that the snapshot no longer had
// are final, and the source will not send them again.
func (m *Mirror) hold() {
	for id, h := range m.counters {
		if h.picked != m.tried.seq {
			delete(m.counters, id)
			continue
		}
		h.value, h.clean = h.tried, true
		m.counters[id] = h
	}
	for id, h := range m.uniques {
		if h.picked != m.tried.seq {
			delete(m.uniques, id)
			continue
		}
		h.hash, h.clean = h.tried, true
		m.uniques[id] = h
	}
	m.acked, m.tried = m.tried, flush{}
}
