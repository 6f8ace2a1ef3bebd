package natssink

import (
	"hash/maphash"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
)

const (
	// slotRows is how many rows share a message. A message costs a server
	// about as much as 20 KB on the way, so more rows would save little, and
	// a row that changes alone takes the others along.
	slotRows = 32

	// slotBytes is how much may be in a slot that takes one more row. The
	// least that servers are set up to take in one message is well above.
	slotBytes = 64 << 10
)

// slots are the messages of one stream that hold a writer's rows. A row stays in
// the slot that it got when it was first seen, so rows that were busy first travel
// together.
type slots struct {
	stream  string
	subject func(g group, slot int) string
	rows    map[rowID]place
	last    map[group]*slot // the one that takes rows
	touched []*slot         // to be sent in this flush
	newest  *slot           // the one with the highest sequence that was acknowledged in it
}

// A group is rows that may share a slot.
type group struct {
	kind string // a token
	name string
	cell cell
}

// A cell is a bucket's place in time. It is zero for what has none.
type cell struct {
	resolution time.Duration
	start      int64
}

// A rowID tells the rows of one writer apart.
type rowID struct {
	key     series.Key
	created int64
	group   string // a group's kind
	cell    cell
}

type place struct {
	slot *slot
	row  int
}

// A slot is the rows of one message, as they were last sent or are to be sent.
type slot struct {
	subject string
	number  int
	at      uint64 // the sequence of the subject's last message, as far as known
	rows    []rowstream.Row
	size    int  // bytes, about
	stale   bool // the stream may hold something else
	touched bool
}

func newSlots(stream string, subject func(g group, slot int) string) *slots {
	return &slots{stream: stream, subject: subject, rows: make(map[rowID]place), last: make(map[group]*slot)}
}

var sketchSeed = maphash.MakeSeed()

// set takes a row for the flush under way. whole is the writer's last snapshot that
// the stream holds in whole. What counts of a row that is new is nothing until the
// flush ends, or, if nothing can come in its place, its value.
func (s *slots) set(kind string, r rowstream.Row, whole uint64, final bool) {
	id := rowID{key: r.Key, created: r.Created, group: kind}
	g := group{kind: kind, name: r.Key.Name()}
	switch {
	case r.Resolution != 0:
		g.cell = cell{r.Resolution, r.Created}
		id.cell = g.cell
	case r.Sketch != nil: // of which only a hash is kept between flushes
		r.Value = int64(maphash.Bytes(sketchSeed, r.Sketch))
	}
	p, ok := s.rows[id]
	if !ok {
		if final {
			r.Prior = r.Value
		}
		p = s.add(id, g, r)
	}
	have := &p.slot.rows[p.row]
	if have.Value != r.Value {
		r.Prior = have.Whole(whole)
		*have, p.slot.stale = r, true
	}
	have.Sketch = r.Sketch
	if p.slot.stale && !p.slot.touched {
		p.slot.touched = true
		s.touched = append(s.touched, p.slot)
	}
}

// add gives a row a place.
func (s *slots) add(id rowID, g group, r rowstream.Row) place {
	sl := s.last[g]
	if sl == nil || len(sl.rows) >= slotRows || sl.size > slotBytes || g.kind == uniquesToken {
		number := 0
		if sl != nil {
			number = sl.number + 1
		}
		sl = &slot{subject: s.subject(g, number), number: number}
		s.last[g] = sl
	}
	sl.rows = append(sl.rows, r)
	sl.size += 2*len(r.Key.Packed()) + len(r.Sketch)
	sl.stale = true
	p := place{sl, len(sl.rows) - 1}
	s.rows[id] = p
	return p
}

// doubt makes all that is touched be sent: the stream may have lost it.
func (s *slots) doubt() {
	for _, p := range s.rows {
		p.slot.stale = true
	}
}

// sent ends what set began. Sketches are the snapshot's, which may be reused.
func (s *slots) sent() {
	for _, sl := range s.touched {
		sl.touched = false
		if sl.rows[0].Sketch != nil {
			sl.rows = sl.rows[:1]
			sl.rows[0].Sketch = []byte{}
		}
		if !sl.stale && (s.newest == nil || sl.at > s.newest.at) {
			s.newest = sl
		}
	}
	s.touched = nil
}

// whole says that the flush has ended. Buckets that began more than one before the
// newest of their resolution are forgotten: they do not change any more.
func (s *slots) whole() {
	s.newest = nil
	newest := make(map[time.Duration]int64)
	for g := range s.last {
		newest[g.cell.resolution] = max(newest[g.cell.resolution], g.cell.start-int64(g.cell.resolution))
	}
	for g := range s.last {
		if g.cell.start < newest[g.cell.resolution] {
			delete(s.last, g)
		}
	}
	for id := range s.rows {
		if id.cell.start < newest[id.cell.resolution] {
			delete(s.rows, id)
		}
	}
}

// merge takes the rows that are on the stream into account. It reports whether
// nothing is left to send.
func (sl *slot) merge(there []rowstream.Row, whole uint64) (same bool) {
	same = true
	known := make([]bool, len(sl.rows))
	for _, r := range there {
		mine := sl.find(&r)
		if mine < 0 {
			sl.rows = append(sl.rows, r)
			continue
		}
		known[mine] = true
		switch m := &sl.rows[mine]; {
		case m.Seq > r.Seq:
			m.Prior, same = r.Whole(whole), false
		case m.Seq < r.Seq:
			r.Key = m.Key
			*m = r
		}
	}
	for _, k := range known {
		same = same && k
	}
	return same
}

func (sl *slot) find(r *rowstream.Row) int {
	for i := range sl.rows {
		m := &sl.rows[i]
		if m.Created == r.Created && m.Resolution == r.Resolution && m.Key == r.Key {
			return i
		}
	}
	return -1
}
