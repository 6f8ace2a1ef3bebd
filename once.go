package hotcount

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// OnceOptions configure a Once. Both fields are needed.
type OnceOptions struct {
	// Window is for how long an id is remembered after it was counted. It is
	// a millisecond at least.
	Window time.Duration

	// Capacity is how many ids are remembered at a time: size it for the
	// ids that come within one Window. Each takes up to 80 bytes.
	Capacity int
}

// A Once adds to a counter at most once for each event id, so that a request
// that is retried is counted once. Use NewOnce to make one. All methods are safe
// for concurrent use.
//
// An id that was counted is refused for exactly Window from then on, by the
// monotonic clock; after that it counts again. If more ids than Capacity come
// within a Window, those that find no room are counted but not remembered, and
// Unguarded says how many: a Once never loses an event. The memory is that of
// the process; it does not outlive a restart.
//
// Ids are remembered by a 64-bit fingerprint under a secret random key. Two
// different ids are taken for one with a probability of 2^-64 a pair: with a
// million ids remembered, one in 18 million million adds is wrongly refused.
type Once struct {
	c        *Counter
	window   int64 // nanoseconds
	capacity int64
	start    time.Time
	seed     maphash.Seed

	remembered atomic.Int64 // entries in all queues
	unguarded  atomic.Int64
	fullUntil  atomic.Int64 // no entry expires before this
	shards     [onceShards]onceShard
}

const onceShards = 64 // a power of two

// A onceShard remembers ids by fingerprint. An id is in the queue once for each
// time it was counted, and in the map with the last of them. Nothing is cleared
// at the turn of a window: each entry leaves by itself when it has expired.
type onceShard struct {
	mu    sync.Mutex
	seen  map[uint64]int64 // fingerprint → when it was counted
	queue []onceEntry      // oldest first, from head on
	head  int
	_     [64 - 48]byte // keep neighbours' locks on other lines
}

type onceEntry struct {
	fingerprint uint64
	counted     int64 // nanoseconds after Once.start
}

// NewOnce returns a Once that adds to c.
func NewOnce(c *Counter, o OnceOptions) (*Once, error) {
	if c == nil {
		return nil, errors.New("hotcount: NewOnce of a nil Counter")
	}
	if o.Window < time.Millisecond {
		return nil, fmt.Errorf("hotcount: OnceOptions.Window is %v, less than a millisecond", o.Window)
	}
	if o.Capacity <= 0 {
		return nil, fmt.Errorf("hotcount: OnceOptions.Capacity is %d", o.Capacity)
	}
	once := &Once{
		c:        c,
		window:   min(int64(o.Window), math.MaxInt64/2), // a sum with it fits
		capacity: int64(o.Capacity),
		start:    time.Now(),
		seed:     maphash.MakeSeed(),
	}
	for i := range once.shards {
		once.shards[i].seen = make(map[uint64]int64)
	}
	return once, nil
}

// AddOnce adds n to the counter and reports true, unless the id was counted
// within the Window before; then it does nothing and reports false. It reads
// the clock and takes one of 64 locks, chosen by the id.
func (o *Once) AddOnce(id string, n int64) bool {
	f := maphash.String(o.seed, id)
	for {
		seen, remembered := o.remember(f)
		switch {
		case seen:
			return false
		case remembered:
		case o.makeRoom():
			continue
		default:
			o.unguarded.Add(1)
		}
		o.c.Add(n)
		return true
	}
}

// Unguarded returns how many events were counted but not remembered, since
// Capacity was reached.
func (o *Once) Unguarded() int64 { return o.unguarded.Load() }

// remember reports whether an id has been seen within the window, and if not,
// whether there was room to remember it from now on.
func (o *Once) remember(f uint64) (seen, remembered bool) {
	s := &o.shards[f%onceShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := o.now() // under the lock, so that the queue is in order
	if counted, ok := s.seen[f]; ok && now-counted < o.window {
		return true, false
	}
	// Two leave for each that comes: the queue shrinks when it can, and no
	// add pays for a long pause before it.
	for range 2 {
		o.expire(s, now)
	}
	if !takeBelow(&o.remembered, 1, o.capacity) {
		return false, false
	}
	s.seen[f] = now
	s.queue = append(s.queue, onceEntry{f, now})
	return false, true
}

func (o *Once) now() int64 { return int64(time.Since(o.start)) }

// expire drops the shard's oldest entry if its window is over, and reports
// whether it did.
func (o *Once) expire(s *onceShard, now int64) bool {
	if len(s.queue) == s.head || now-s.queue[s.head].counted < o.window {
		return false
	}
	e := s.queue[s.head]
	if s.seen[e.fingerprint] == e.counted { // else it has been counted again since
		delete(s.seen, e.fingerprint)
	}
	s.head++
	if 2*s.head >= len(s.queue) { // move what is left once for each that left
		n := copy(s.queue, s.queue[s.head:])
		s.queue, s.head = s.queue[:n], 0
	}
	o.remembered.Add(-1)
	return true
}

// makeRoom drops all entries whose window is over, and reports whether there is
// room now. While there is none it costs one look at the clock.
func (o *Once) makeRoom() bool {
	now := o.now()
	if now < o.fullUntil.Load() {
		return o.remembered.Load() < o.capacity
	}
	next := now + o.window // for what comes in behind the loop
	for i := range o.shards {
		s := &o.shards[i]
		s.mu.Lock()
		for o.expire(s, now) {
		}
		if len(s.queue) > s.head {
			next = min(next, s.queue[s.head].counted+o.window)
		}
		s.mu.Unlock()
	}
	o.fullUntil.Store(next)
	return o.remembered.Load() < o.capacity
}
