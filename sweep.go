package hotcount

import (
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// sweep is what Snapshot remembers from one call to the next. Engine.mu guards
// it.
type sweep struct {
	seq     uint64
	finals  []final
	evicted int64
	last    time.Time
	health  health
}

// A final is the last row of a dormant series, kept until acknowledged.
type final struct {
	row snapshot.Counter
	seq uint64 // the first snapshot that holds the row
	s   *series
}

// Snapshot fills s with the state of every series, reusing its memory: into a
// snapshot that was filled before, it allocates next to nothing. Writers are
// not stopped. Each call takes the next Seq.
//
// It also retires idle series; see Limits. Snapshots of one engine are taken
// one after the other.
func (e *Engine) Snapshot(s *snapshot.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Reset()
	e.sweep.seq++
	s.Writer, s.Seq, s.Started, s.Taken = e.writer, e.sweep.seq, e.started, time.Now()

	for _, p := range e.parked.moved() {
		e.unpark(p)
	}
	e.sweep.health.begin()
	age := e.age()
	for c := range e.index.All {
		e.visit(c, s, age)
	}
	for i := range e.sweep.finals {
		s.Final = append(s.Final, e.sweep.finals[i].row)
	}
	e.appendHealth(s)
	e.sweep.last = s.Taken
}

// visit appends the row of one series, and retires it if its time has come.
func (e *Engine) visit(c *series, s *snapshot.Snapshot, age uint32) {
	m := c.more.Load()
	v := c.count.Value()
	if v != c.seen {
		e.sweep.health.saw(c, v-c.seen)
		c.seen = v
		if a := c.active.Load(); a != deleted {
			c.active.CompareAndSwap(a, age) // unless Delete comes between
		}
	}
	var offset int64
	if m != nil {
		if m.uniques != nil {
			s.Uniques = append(s.Uniques, m.uniques.row(e.createdAt(c)))
			return
		}
		offset = m.offset
		if m.dormant {
			if v == offset {
				return
			}
			c.created = max(age, c.created+1) // tells the new row from the final one
			c.more.Store(&more{offset: offset})
		}
	}
	row := snapshot.Counter{Key: c.key(), Created: e.createdAt(c), Value: v - offset}
	if e.expired(c, age) {
		c.active.Store(age)
		c.more.Store(&more{offset: v, dormant: true})
		e.sweep.finals = append(e.sweep.finals, final{row: row, seq: s.Seq, s: c})
		return
	}
	s.Counters = append(s.Counters, row)
}

// expired reports whether a series is to be retired.
func (e *Engine) expired(c *series, age uint32) bool {
	if c.fam.isOverflow() {
		return false
	}
	a := c.active.Load()
	if a == deleted {
		return true
	}
	return e.limits.IdleAfter > 0 && time.Duration(age-a)*time.Second >= e.limits.IdleAfter
}

// createdAt returns the Unix nanoseconds at which a series began.
func (e *Engine) createdAt(c *series) int64 {
	return e.started.UnixNano() + int64(c.created)*int64(time.Second)
}

// Acknowledge says that every sink holds the snapshot with this seq, so that
// retired series may leave. The engine's own exporter calls it. Call it
// yourself only if the engine has neither Dir nor Sinks and you export what
// Snapshot returns: without it, idle series stay in memory.
func (e *Engine) Acknowledge(seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	rest := e.sweep.finals[:0]
	for _, f := range e.sweep.finals {
		if f.seq > seq {
			rest = append(rest, f)
			continue
		}
		if m := f.s.more.Load(); m.dormant && f.s.count.Value() == m.offset {
			e.evict(f.s)
		}
	}
	clear(e.sweep.finals[len(rest):])
	e.sweep.finals = rest
}

// evict moves a dormant series from the index to the parked ones. An add that
// comes before or after is found by a later sweep, or by the last rites.
func (e *Engine) evict(s *series) {
	shard := e.index.Shard(e.hashOf(s))
	shard.Lock()
	defer shard.Unlock()
	shard.Remove(e.index, s)
	s.fam.release()
	e.parked.park(s)
	e.sweep.evicted++
}
