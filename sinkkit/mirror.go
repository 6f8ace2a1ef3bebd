package sinkkit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// A Mirror is what a sink knows its store to hold of one source. It picks the
// rows to send: those that changed, or all of them after the store has lost
// some. It also stands in for the source's identity when the store no longer
// takes its writer id. The zero Mirror is ready for use. A Mirror is not safe
// for concurrent use.
//
// The store keeps a Standing for each writer, and a row for each writer and
// series. A flush of a snapshot goes:
//
//	Follow(s)          whose snapshots come now
//	ask the store for the standing of Writer()
//	Settle(standing)   again from the line above while it returns Ask
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
// so rows may come twice. A series' total is the sum of carry + value over its
// writers. When a store adds up the rows of a dead writer, it must take them as
// they were at the writer's Seq, without a flush that never ended, and keep the
// standing for longer than a packet can be late: with it, a writer that was only
// late knows what has been counted, and goes on under a new id from there.
//
// A store that takes the rows and the standing in one transaction is done with
// that. One that takes them one by one must not mix two flushes of one writer,
// such as a late packet of the last flush with the next one, or a clone's. There
// a flush claims the standing before it picks: between Settle and Pick, it makes
// the standing's Pending what Claim returns, if the standing still is what it
// was. The store refuses rows and ends of flushes whose mark is not Pending.
//
// For windows, a BucketMirror goes along.
//
// A Mirror takes 150 to 190 bytes for each series of the source.
type Mirror struct {
	source snapshot.WriterID
	writer snapshot.WriterID
	seq    uint64 // of the snapshot being sent

	acked  flush  // the last that the store holds, under writer
	newest flush  // the last that it ever held; acked is older while the store has lost that
	tried  flush  // the one that has begun since, zero if none has
	left   Mark   // of the last that the store held under the id before writer
	next   Mark   // of the one that Claim has announced
	claims []Mark // all that Claim has returned since acked
	ours   bool   // no earlier process has exported under writer

	counters map[rowID]held
	uniques  map[rowID]sketched
	sketches []snapshot.UniquesRow // buffer of Pick
	rows     []snapshot.CounterRow // buffer of Pick
}

// remembered is for how many snapshots a mirror remembers rows that are final,
// in case the store goes back to a state without them. A replica that takes
// over lags by seconds; this is ten minutes at the default interval.
const remembered = 60

// A flush is one snapshot on its way. Its mark tells it from that of a clone of
// this process, which has the same writer and may have the same seq.
type flush struct {
	seq  uint64
	mark Mark
}

type rowID struct {
	key     series.Key
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

// A Mark names one flush. It is random.
type Mark [16]byte

// IsZero reports whether k names no flush.
func (k Mark) IsZero() bool { return k == Mark{} }

// NewMark returns a mark that no other flush has.
func NewMark() Mark { return Mark(snapshot.NewWriterID()) }

// A Standing is what a store says of a writer. It is zero for one that the store
// does not know.
type Standing struct {
	Seq     uint64 // of the last snapshot that it holds in whole, 0 if none
	Mark    Mark   // of the flush that brought it
	Pending Mark   // of the flush that has claimed the writer since, zero if none
	Dead    bool   // the writer's rows have been added up; it must not send more
}

// A Step is what a flush has to do next.
type Step int

const (
	Send Step = iota // go on: Claim where the store needs it, then Pick
	Ask              // Writer has changed, ask for its standing
	Done             // nothing, the store holds the snapshot or a newer one
)

// Writer returns the id under which to send: the source's own, or one that
// Settle has made in its place.
func (m *Mirror) Writer() snapshot.WriterID { return m.writer }

// Follow says that s is the next snapshot to send. One of another source makes
// the mirror start over.
func (m *Mirror) Follow(s *snapshot.Snapshot) {
	if m.counters == nil || m.source != s.Writer {
		*m = Mirror{
			source:   s.Writer,
			writer:   s.Writer,
			counters: make(map[rowID]held),
			uniques:  make(map[rowID]sketched),
		}
	}
	m.seq = s.Seq
}

// Settle takes note of what the store says of Writer, and returns what to do
// next. After Ask, the store has no use for the old id any more, or somebody
// else uses it too. The error wraps ErrTooLate.
func (m *Mirror) Settle(st Standing) (Step, error) {
	if !st.Mark.IsZero() && st.Mark == m.tried.mark { // the answer was lost, not the flush
		m.hold()
	}
	switch known := st.Mark == m.acked.mark; {
	case known && m.acked.seq >= m.seq:
		return Done, nil
	case st.Dead && (m.ours || st.Seq == 0):
		// Also if st.Seq < m.acked.seq: the store then went back to an older
		// state and added that up. To send again what it lost would count
		// what it kept a second time.
		m.remint()
		return Ask, nil
	case !m.ours && st.Seq >= m.seq:
		return Done, nil
	case st.Dead:
		return Done, fmt.Errorf("%w: writer %v, snapshot %d of %d", export.ErrTooLate, m.writer, st.Seq, m.seq)
	case !m.ours: // what an earlier process exported is all sent once more
		m.acked = flush{st.Seq, st.Mark}
	case !known && (st.Seq <= m.newest.seq || slices.Contains(m.claims, st.Mark)):
		m.forget(st) // the store went back to an older state, or came back from one
	case !known || !m.claimed(st.Pending): // a clone of this process uses the id
		m.remint()
		return Ask, nil
	}
	return Send, nil
}

// Claim returns the mark of the flush that Pick will begin.
func (m *Mirror) Claim() Mark {
	m.next = NewMark()
	m.claims = append(m.claims, m.next)
	return m.next
}

// claimed reports whether a flush of this mirror may have left pending. In a
// state that the store went back to, that may be one long forgotten.
func (m *Mirror) claimed(pending Mark) bool {
	return pending.IsZero() || slices.Contains(m.claims, pending) || m.acked != m.newest
}

// Mark returns the mark of the flush that Pick began.
func (m *Mirror) Mark() Mark { return m.tried.mark }

// forget makes Pick send everything that was counted under Writer. The values
// stay what the store once held, for the case that it adds up what is left of
// them: see Settle.
func (m *Mirror) forget(st Standing) {
	for id, h := range m.counters {
		h.clean = false
		m.counters[id] = h
	}
	clear(m.uniques)
	m.acked = flush{st.Seq, st.Mark}
}

// remint goes on under a new id: what the store holds, it holds under the old.
func (m *Mirror) remint() {
	if !m.acked.mark.IsZero() {
		m.left = m.acked.mark
	}
	m.writer = snapshot.NewWriterID()
	for id, h := range m.counters {
		h.offset, h.clean = h.value, h.value == h.tried
		m.counters[id] = h
	}
	clear(m.uniques) // a union may hold an element twice
	m.acked, m.newest, m.tried, m.claims, m.ours = flush{}, flush{}, flush{}, nil, true
}

// Pick returns the rows and sketches of s that the store does not hold, sorted
// by key, and the rows of a series by Created. Both are valid until the next
// Pick.
func (m *Mirror) Pick(s *snapshot.Snapshot) ([]snapshot.CounterRow, []snapshot.UniquesRow) {
	if m.next.IsZero() {
		m.Claim()
	}
	m.tried, m.next = flush{s.Seq, m.next}, Mark{}
	m.pickCounters(s)
	m.pickUniques(s)
	return m.rows, m.sketches
}

func (m *Mirror) pickCounters(s *snapshot.Snapshot) {
	m.rows = m.rows[:0]
	for _, counters := range [...][]snapshot.CounterRow{s.Final, s.Counters} {
		for _, c := range counters {
			id := rowID{c.Key, c.Created}
			h := m.counters[id]
			if !h.clean || h.value != c.Value {
				h.clean = false
				m.rows = append(m.rows, snapshot.CounterRow{Key: c.Key, Created: c.Created, Value: c.Value - h.offset})
			}
			h.tried, h.picked = c.Value, s.Seq
			m.counters[id] = h
		}
	}
	if len(m.counters) > len(s.Final)+len(s.Counters) {
		for id, h := range m.counters {
			if h.picked != s.Seq && !h.clean { // final, and lost by the store
				m.rows = append(m.rows, snapshot.CounterRow{Key: id.key, Created: id.created, Value: h.tried - h.offset})
			}
		}
	}
	slices.SortFunc(m.rows, func(a, b snapshot.CounterRow) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Created, b.Created))
	})
}

func (m *Mirror) pickUniques(s *snapshot.Snapshot) {
	m.sketches = m.sketches[:0]
	for _, u := range s.Uniques {
		id := rowID{u.Key, u.Created}
		h := m.uniques[id]
		h.tried, h.picked = xxhash.Sum64(u.Sketch), s.Seq
		if !h.clean || h.hash != h.tried {
			h.clean = false
			m.sketches = append(m.sketches, u)
		}
		m.uniques[id] = h
	}
	slices.SortFunc(m.sketches, func(a, b snapshot.UniquesRow) int { return a.Key.Compare(b.Key) })
}

// Hold says that the store holds all of s.
func (m *Mirror) Hold(s *snapshot.Snapshot) {
	if s.Seq == m.tried.seq {
		m.hold()
	}
}

// hold makes what was tried what is held, and in time forgets rows that the
// snapshot no longer had: they are final, and the source will not send them
// again.
func (m *Mirror) hold() {
	for id, h := range m.counters {
		if m.tried.seq-h.picked > remembered {
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
	m.acked, m.newest, m.tried, m.claims, m.ours = m.tried, m.tried, flush{}, nil, true
}
