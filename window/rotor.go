package window

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"
)

// A rotor keeps one T for each bucket, for counts that have no inverse. Writers
// load cur and write to it; a tick closes it by storing a fresh one.
//
// A writer that loaded cur before a tick may write to it afterwards, so a
// closed bucket may still grow for as long as that writer is held up. Nothing is
// lost by that: the bucket is merged where it stands. It is also why a T is
// never emptied for reuse. Knowing that no writer still holds it takes
// announcing every write, which costs writers two more atomics on a line that
// all of them share; a fresh T costs one allocation a tick, and the garbage
// collector knows for free.
type rotor[T any] struct {
	cur atomic.Pointer[T]
	_   cpu.CacheLinePad // writers load cur, readers lock mu

	seat
	sampler    *Sampler
	own        *Sampler // sampler, if it ends with the window
	resolution int64
	limit      int // of buckets
	fresh      func() *T
	empty      func(*T) bool

	mu      sync.Mutex
	born    int64     // all that is younger is known
	start   int64     // of cur
	bucket  int64     // that start is in
	buckets []slot[T] // closed ones that are not empty, oldest first
	outages []stretch
	closed  bool
	end     int64 // of a closed window
}

// A slot is a closed bucket.
type slot[T any] struct {
	stretch
	v *T
}

// init starts the rotor.
func (r *rotor[T]) init(g Rung, s *Sampler, fresh func() *T, empty func(*T) bool) {
	r.sampler, r.own = drive(s)
	r.resolution = int64(g.Resolution)
	r.limit = g.Buckets
	r.fresh, r.empty = fresh, empty
	r.cur.Store(fresh())
	at, wall := r.sampler.moment()
	r.born, r.start, r.bucket = at, at, bucketOf(wall, r.resolution)
	r.sample(r.sampler.enter(&r.seat, r, g.Resolution))
}

func (r *rotor[T]) close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.end = r.sampler.now()
	r.mu.Unlock()

	r.sampler.leave(&r.seat)
	if r.own != nil {
		r.own.Close()
	}
}

// sample implements sampled. A bucket that is empty goes on as the next: what
// is written to it from now on is younger than at.
func (r *rotor[T]) sample(at, bucket int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || at <= r.start || bucket == r.bucket {
		return
	}
	if v := r.cur.Load(); !r.empty(v) {
		r.buckets = append(r.buckets, slot[T]{stretch{r.start, at}, v})
		r.cur.Store(r.fresh())
	}
	r.start, r.bucket = at, bucket
	r.evict(at)
}

// evict drops the buckets that are beyond the window's number, or beyond its
// reach in time.
func (r *rotor[T]) evict(at int64) {
	old := max(0, len(r.buckets)-r.limit)
	for old < len(r.buckets) && r.buckets[old].to <= at-r.resolution*int64(r.limit) {
		old++
	}
	if old > 0 {
		r.born = r.buckets[old-1].to
		r.buckets = slices.Delete(r.buckets, 0, old)
	}
}

// now returns the end of the live bucket.
func (r *rotor[T]) now() int64 {
	if r.closed {
		return r.end
	}
	return r.sampler.now()
}

// last returns the buckets that hold the last d, and when they begin.
func (r *rotor[T]) last(d time.Duration) (parts []*T, from int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.now() - int64(max(d, 0))
	from = max(t, r.born)
	if from > r.start {
		from = r.start
	}
	for _, b := range slices.Backward(r.buckets) {
		if b.to <= t {
			break
		}
		parts = append(parts, b.v)
		from = min(from, b.from)
	}
	return append(parts, r.cur.Load()), from
}

// span returns the time from then until now. It is asked for after the buckets
// have been read, so that they hold nothing younger.
func (r *rotor[T]) span(from int64) Span {
	r.mu.Lock()
	to, outages := r.now(), r.outages
	r.mu.Unlock()
	return r.sampler.timeline().span(0, from, to, outages)
}

// all calls emit for every stretch of the window in which it watched, oldest
// first, with the label of its start and what was collected in it or nil for
// nothing.
func (r *rotor[T]) all(emit func(at stretch, start int64, v *T)) {
	r.mu.Lock()
	buckets := append(slices.Clone(r.buckets), slot[T]{stretch{r.start, r.now()}, r.cur.Load()})
	idle, outages := r.born, r.outages
	r.mu.Unlock()
	line := r.sampler.timeline()
	for _, b := range buckets {
		watched(stretch{idle, b.from}, outages, func(s stretch) { emit(s, line.wall(s.from), nil) })
		if b.from < b.to {
			emit(b.stretch, line.wall(b.from), b.v)
		}
		idle = b.to
	}
}

// restore puts buckets of an earlier run in place of the closed ones. Those
// without a value are watched time only. What is in the live bucket stays, so
// the outage until now ends where that began.
func (r *rotor[T]) restore(at []stretch, values []*T, outages []stretch, now int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	if n := len(outages); n > 0 {
		last := &outages[n-1]
		last.to = max(last.from, min(last.to, r.start))
	}
	r.outages = outages
	r.buckets = nil
	r.born = min(r.start, now)
	for i, v := range values {
		if v != nil {
			r.buckets = append(r.buckets, slot[T]{at[i], v})
		}
	}
	if len(at) > 0 {
		r.born = at[0].from
	}
	r.evict(now)
	return nil
}
