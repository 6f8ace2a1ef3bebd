package window

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/stripe"
)

// EventsOptions says how events are put into buckets. Zero fields have the
// defaults of Options.
type EventsOptions struct {
	// Resolution is the width of a bucket. Buckets begin at its multiples
	// since the Unix epoch, in UTC.
	Resolution time.Duration
	// Buckets is how many buckets are kept.
	Buckets int
	// Lateness is how far an event may lie behind the newest and still be
	// counted. 0 means as far as the buckets reach; it cannot be more.
	Lateness time.Duration
	// Clock tells which events are in the future. The default is the
	// system's. It is read once for each bucket, not for each event.
	Clock Clock
}

// Events counts things by when they happened, not by when they are counted: the
// lines of a log, the messages of a queue. Time moves on with the newest event.
//
// All methods may be called from any goroutine. An AddAt synchronizes before
// any read that includes it.
type Events struct {
	resolution int64
	lateness   int64 // in buckets
	clock      Clock

	newest atomic.Int64 // the highest tick, noTick at first
	slots  []atomic.Pointer[eventBucket]
	added  stripe.Counter
	late   stripe.Counter
	future stripe.Counter
}

// An eventBucket counts the events of one tick: of the resolution, since the
// Unix epoch. It belongs to that tick for good; a slot that comes round again
// gets a new one. So a writer held up between finding a bucket and adding to it
// adds to the right tick, even to one that has left the ring.
type eventBucket struct {
	tick    int64
	count   stripe.Counter
	earlier stripe.Counter // of count, what an earlier run counted
}

// noTick is before all ticks, and far enough from the end of int64 to subtract
// a number of buckets from it.
const noTick = math.MinInt64 / 2

// futureTicks is how many buckets an event may be ahead of the clock: one, for
// hosts whose clocks differ a little.
const futureTicks = 1

// NewEvents returns an empty window over events. The error wraps ErrOptions.
func NewEvents(o EventsOptions) (*Events, error) {
	g := Rung{o.Resolution, o.Buckets}.withDefaults()
	if err := g.check(); err != nil {
		return nil, err
	}
	reach := g.Resolution * time.Duration(g.Buckets)
	if o.Lateness < 0 || o.Lateness > reach-g.Resolution {
		return nil, fmt.Errorf("%w: lateness %v is not within %d buckets of %v before the newest", ErrOptions, o.Lateness, g.Buckets-1, g.Resolution)
	}
	e := &Events{
		resolution: int64(g.Resolution),
		lateness:   int64(g.Buckets - 1),
		clock:      o.Clock,
		slots:      make([]atomic.Pointer[eventBucket], g.Buckets),
	}
	if o.Lateness > 0 {
		e.lateness = int64((o.Lateness + g.Resolution - 1) / g.Resolution)
	}
	if e.clock == nil {
		e.clock = systemClock()
	}
	e.newest.Store(noTick)
	return e, nil
}

// AddAt counts n at time t. If t is too late for its bucket, n is added to
// Stats' Late instead; if t is more than a bucket ahead of the clock, to Future.
// AddAt never blocks. It allocates once for each bucket.
func (e *Events) AddAt(t time.Time, n int64) {
	e.add(floorDiv(unixNano(t), e.resolution), n)
}

// add returns the bucket in which it counted, nil for none.
func (e *Events) add(tick, n int64) *eventBucket {
	newest := e.newest.Load()
	for tick > newest {
		if wall, _ := e.clock.read(); tick > floorDiv(wall, e.resolution)+futureTicks {
			e.future.Add(n)
			return nil
		}
		if e.newest.CompareAndSwap(newest, tick) {
			newest = tick
		} else {
			newest = e.newest.Load()
		}
	}
	b := (*eventBucket)(nil)
	if tick >= newest-e.lateness {
		b = e.bucket(tick)
	}
	if b == nil {
		e.late.Add(n)
		return nil
	}
	e.added.Add(n) // first, so that added is never less than the buckets' sum
	b.count.Add(n)
	return b
}

// bucket returns the bucket of the tick, or nil if a newer one has taken its
// slot.
func (e *Events) bucket(tick int64) *eventBucket {
	slot := &e.slots[floorMod(tick, int64(len(e.slots)))]
	b := slot.Load()
	for b == nil || b.tick < tick {
		fresh := &eventBucket{tick: tick}
		if slot.CompareAndSwap(b, fresh) {
			return fresh
		}
		b = slot.Load()
	}
	if b.tick > tick {
		return nil
	}
	return b
}

// held returns the ring's buckets by tick, up to the newest tick and from the
// first that any event was in, with the ticks that had none.
func (e *Events) held() (first int64, counts []int64) {
	newest := e.newest.Load()
	first = newest + 1
	oldest := newest - int64(len(e.slots)) + 1
	counts = make([]int64, len(e.slots))
	for b := range e.between(oldest, newest) {
		counts[b.tick-oldest] = b.count.Value()
		first = min(first, b.tick)
	}
	return first, counts[first-oldest:]
}

// between yields the buckets from the oldest tick to the newest, in no order.
func (e *Events) between(oldest, newest int64) iter.Seq[*eventBucket] {
	return func(yield func(*eventBucket) bool) {
		for i := range e.slots {
			b := e.slots[i].Load()
			if b != nil && b.tick >= oldest && b.tick <= newest && !yield(b) {
				return
			}
		}
	}
}

// Last returns what happened in the last d of event time: from the beginning of
// a bucket to the end of the newest one. Covered is d rounded up to whole
// buckets, or less if the events do not reach back so far.
func (e *Events) Last(d time.Duration) Span {
	_, counts := e.held()
	want := int64(max(d, 0)) / e.resolution
	if int64(d) > want*e.resolution {
		want++
	}
	if want < int64(len(counts)) {
		counts = counts[int64(len(counts))-want:]
	}
	s := Span{Covered: time.Duration(int64(len(counts)) * e.resolution)}
	for _, n := range counts {
		s.Count += n
	}
	return s
}

// Buckets returns the buckets, oldest first, from the first that had an event
// to the newest. They begin at multiples of the resolution.
func (e *Events) Buckets() []Bucket {
	first, counts := e.held()
	buckets := make([]Bucket, len(counts))
	for i, n := range counts {
		buckets[i] = Bucket{
			Start: time.Unix(0, (first+int64(i))*e.resolution),
			Span:  Span{Count: n, Covered: time.Duration(e.resolution)},
		}
	}
	return buckets
}

// Final returns the time before which no bucket changes any more, as events
// before it are late. An AddAt that began before the newest event was counted
// may still be on its way. It is the zero Time if there were no events.
func (e *Events) Final() time.Time {
	newest := e.newest.Load()
	if newest == noTick {
		return time.Time{}
	}
	return time.Unix(0, (newest-e.lateness)*e.resolution)
}

// EventsStats accounts for all that AddAt was given: Added, Late and Future sum
// to it, and Added is Evicted and the sum of Buckets, when no writer is active.
type EventsStats struct {
	Added   int64 // counted in a bucket
	Evicted int64 // of that, in buckets which are no longer held
	Late    int64 // behind the newest event by more than the lateness
	Future  int64 // ahead of the clock
}

// Stats accounts for all events.
func (e *Events) Stats() EventsStats {
	var held int64
	_, counts := e.held()
	for _, n := range counts {
		held += n
	}
	added := e.added.Value()
	return EventsStats{added, added - held, e.late.Value(), e.future.Value()}
}

// AppendRows appends the buckets that are not 0 to dst, for Restore in a later
// run. What was restored is a row of its own.
func (e *Events) AppendRows(dst []Row) []Row {
	had := len(dst)
	add := func(tick, count int64, earlier bool) {
		if count != 0 {
			r := time.Duration(e.resolution)
			dst = append(dst, Row{Resolution: r, Start: tick * e.resolution, Width: r, Count: count, Earlier: earlier})
		}
	}
	newest := e.newest.Load()
	for b := range e.between(newest-int64(len(e.slots))+1, newest) {
		earlier := b.earlier.Value()
		add(b.tick, earlier, true)
		add(b.tick, b.count.Value()-earlier, false)
	}
	slices.SortStableFunc(dst[had:], func(a, b Row) int { return cmp.Compare(a.Start, b.Start) })
	return dst
}

// Restore adds the rows of an earlier run, each as one event at its Start. Rows
// of another resolution are left out. The error wraps ErrRows; nothing is then
// added.
func (e *Events) Restore(rows []Row) error {
	for i, r := range rows {
		if r.Start < 0 || r.Width <= 0 || int64(r.Width) > math.MaxInt64-r.Start {
			return fmt.Errorf("%w: row %d of %d: width %v from Unix time %v", ErrRows, i, len(rows), r.Width, time.Duration(r.Start))
		}
	}
	for _, r := range rows {
		if int64(r.Resolution) == e.resolution {
			if b := e.add(floorDiv(r.Start, e.resolution), r.Count); b != nil {
				b.earlier.Add(r.Count)
			}
		}
	}
	return nil
}

// unixNano is t.UnixNano, but for times that int64 nanoseconds do not reach its
// ends.
func unixNano(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	case s <= math.MinInt64/int64(time.Second):
		return math.MinInt64
	}
	return t.UnixNano()
}

// floorDiv is a / m rounded down, for m > 0.
func floorDiv(a, m int64) int64 {
	q := a / m
	if a%m < 0 {
		q--
	}
	return q
}
