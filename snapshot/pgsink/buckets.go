package pgsink

import (
	"maps"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// A bucket is what was added to one series in one stretch of resolution. Tick
// counts the stretches from the Unix epoch, so that the buckets of all writers
// fall together.
//
// A window's rows begin when its sampler woke up, by a wall clock that is being
// slewed: a little after the tick, and not always labelled alike. A row belongs
// to the tick that its start is at most a quarter of the resolution before.
type bucket struct {
	key        snapshot.Key
	resolution time.Duration
	tick       int64
	count      int64
}

const tickTolerance = 4 // a quarter

func tickOf(start int64, resolution time.Duration) int64 {
	r := int64(resolution)
	start += r / tickTolerance
	tick := start / r
	if start%r < 0 {
		tick--
	}
	return tick
}

func (b bucket) start() time.Time { return time.Unix(0, b.tick*int64(b.resolution)) }

// A bucketMirror is for buckets what a snapshot.Mirror is for counters. Buckets
// only change while they are the newest, so it remembers those.
type bucketMirror struct {
	writer snapshot.WriterID
	acked  bucketFlush // what is held under writer
	tried  bucketFlush // what was sent since
	offset map[curve]newest
}

type bucketFlush struct {
	mark   snapshot.Mark
	newest map[curve]newest
}

// A curve is one series at one resolution.
type curve struct {
	key        snapshot.Key
	resolution time.Duration
}

// A newest bucket, and by that all before it.
type newest struct {
	tick, count int64
}

// settle takes note of a standing, and of the id that a snapshot.Mirror goes on
// under, having seen that.
func (m *bucketMirror) settle(st snapshot.Standing, goesOn snapshot.WriterID) {
	if st.Mark == m.tried.mark {
		m.hold()
	}
	switch {
	case m.writer != goesOn: // what is held, is held under earlier ids
		if m.offset == nil {
			m.offset = make(map[curve]newest)
		}
		maps.Copy(m.offset, m.acked.newest)
		m.writer, m.acked, m.tried = goesOn, bucketFlush{}, bucketFlush{}
	case st.Mark != m.acked.mark: // the store went back to an older state
		m.acked = bucketFlush{mark: st.Mark}
	}
}

// hold says that what was tried is held.
func (m *bucketMirror) hold() {
	if !m.tried.mark.IsZero() {
		m.acked, m.tried = m.tried, bucketFlush{}
	}
}

// pick returns the buckets of s that the tables lack. Those that began before
// the writer are an earlier one's, and idle ones are not stored.
func (m *bucketMirror) pick(s *snapshot.Snapshot, mark snapshot.Mark) (picked []bucket) {
	m.tried = bucketFlush{mark, make(map[curve]newest, len(s.Windows))}
	for _, w := range s.Windows {
		var last bucket
		emit := func() {
			if last.count != 0 {
				picked = m.pickOne(picked, last)
			}
		}
		for _, r := range w.Rows {
			if r.Start < s.Started.UnixNano() {
				continue
			}
			b := bucket{w.Key, r.Resolution, tickOf(r.Start, r.Resolution), r.Count}
			if b.resolution == last.resolution && b.tick <= last.tick {
				last.count += b.count
				continue
			}
			emit()
			last = b
		}
		emit()
	}
	return picked
}

func (m *bucketMirror) pickOne(picked []bucket, b bucket) []bucket {
	c := curve{b.key, b.resolution}
	m.tried.newest[c] = newest{b.tick, b.count}
	switch o, ok := m.offset[c]; {
	case ok && b.tick < o.tick:
		return picked
	case ok && b.tick == o.tick:
		b.count -= o.count
	}
	have, ok := m.acked.newest[c]
	if ok && (b.tick < have.tick || have == m.tried.newest[c]) {
		return picked
	}
	return append(picked, b)
}
