package hotcount

import (
	"slices"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// sweep is what Snapshot remembers from one call to the next. Engine.mu guards
// it.
type sweep struct {
	seq     uint64
	acked   uint64
	finals  []final
	evicted int64
	parked  []*entry // empty between calls, kept for its memory
	last    time.Time
	health  health
}

// A final is the last row of a retired series, kept until acknowledged.
type final struct {
	row snapshot.CounterRow
	seq uint64 // the first snapshot that holds the row
}

// Snapshot fills s with the state of every series, reusing its memory: into a
// snapshot that was filled before, it allocates next to nothing. It holds every
// add that returned before the call; writers are not stopped, so it may hold
// later ones. Each call takes the next Seq.
//
// It also retires idle series; see Limits. Snapshots of one engine are taken
// one after the other. A call takes about 60 ns for each series.
func (e *Engine) Snapshot(s *snapshot.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Reset()
	e.sweep.seq++
	s.Writer, s.Seq, s.Started, s.Taken = e.writer, e.sweep.seq, e.started, time.Now()

	e.recall()
	e.dropAcknowledged()
	age := e.age()
	for c := range e.index.All {
		e.visit(c, s, age)
	}
	for i := range e.sweep.finals {
		s.Final = append(s.Final, e.sweep.finals[i].row)
	}
	e.windows.appendRows(s)
	e.sweep.health.sumUp(s.Taken, e.sweep.last)
	e.appendHealth(s)
	e.sweep.last = s.Taken
}

// Acknowledge says that every sink holds the snapshot with this seq, so that
// retired series may leave. The engine's own exporter calls it. Call it
// yourself only if the engine has neither Dir nor Sinks and you export what
// Snapshot returns: without it, idle series stay in memory.
func (e *Engine) Acknowledge(seq uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sweep.acked = max(e.sweep.acked, min(seq, e.sweep.seq))
}

func (e *Engine) dropAcknowledged() {
	w := &e.sweep
	w.finals = slices.DeleteFunc(w.finals, func(f final) bool { return f.seq <= w.acked })
}

// visit appends the row of one series, and moves the series on in its life.
func (e *Engine) visit(c *entry, s *snapshot.Snapshot, age uint32) {
	// Before the count is read: a Delete from here on may come after an add that
	// this sweep does not see, and is for the next one.
	gone := c.active.CompareAndSwap(deleted, age)
	v := c.count.Value()
	if v != c.seen {
		e.sweep.health.saw(c, v-c.seen)
		c.seen = v
		c.touch(age)
	}
	m := c.more.Load()
	var offset int64
	switch {
	case m == nil:
	case m.uniques != nil:
		s.AppendUniques(c.key(), e.createdAt(c), m.uniques.sketch)
		return
	case m.retired == 0:
		offset = m.offset
	case v != m.offset:
		offset = m.offset
		c.more.Store(&more{offset: offset})
		// Tells the new row from the final one.
		c.created = max(age, c.created+1, e.notBefore.Load())
	default:
		if m.retired <= e.sweep.acked && !e.windows.pins(c) {
			e.evict(c)
		}
		return
	}
	row := snapshot.CounterRow{Key: c.key(), Created: e.createdAt(c), Value: v - offset}
	if !e.expired(c, gone, age) {
		s.Counters = append(s.Counters, row)
		return
	}
	c.touch(age)
	c.more.Store(&more{offset: v, retired: s.Seq})
	e.sweep.finals = append(e.sweep.finals, final{row: row, seq: s.Seq})
}

// expired reports whether a series is to be retired, because it is gone by Delete
// or idle.
func (e *Engine) expired(c *entry, gone bool, age uint32) bool {
	if c.fam.isOverflow() {
		return false
	}
	if gone {
		return true
	}
	a := c.active.Load()
	if a == deleted {
		return false // by now; the next sweep retires it
	}
	// Ages are rounded down, so the time between may be a second shorter
	// than their difference. A series made since this sweep began is younger
	// than it.
	idle := time.Duration(int64(age)-int64(a)-1) * time.Second
	return e.limits.IdleAfter > 0 && idle >= e.limits.IdleAfter && !e.windows.pins(c)
}

// createdAt returns the Unix nanoseconds at which a series began.
func (e *Engine) createdAt(c *entry) int64 {
	return e.started.UnixNano() + int64(c.created)*int64(time.Second)
}

// evict moves a dormant series from the index to the parked ones. An add that
// comes before or after is found by a later sweep, or by the last rites.
func (e *Engine) evict(s *entry) {
	// Before the name is free: whatever has it next begins later than s did.
	e.notBefore.Store(max(e.notBefore.Load(), s.created+1))
	shard := e.index.Shard(e.hashOf(s))
	shard.Lock()
	defer shard.Unlock()
	shard.Remove(e.index, s)
	s.fam.release(s.labels)
	e.windows.drop(s)
	e.parked.park(s)
	e.sweep.evicted++
}
