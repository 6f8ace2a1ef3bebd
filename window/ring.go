package window

import (
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// How it works. A sampler's goroutine goes round its tracks, one for each
// resolution. On a track are the seats of rings of that finest resolution, and
// of rotors. At a tick, a ring reads its source's total. Each rung whose bucket
// has ended puts that reading on its curve, if it has changed:
//
//	total                    ┌ live: read when asked
//	  │              ●───────●
//	  │       ●─────●          knots of the curve, the edges of buckets
//	  │     ●            ─── nothing was added: no knots, however long
//	  └─────┴─┴─────┴┴───────┴──► axis: the monotonic clock
//
// Invariants:
//
//  1. A curve holds readings of the total and nothing else. Buckets are
//     differences of neighbours, so they sum to the difference of the ends
//     whatever writers do at a boundary: there is nothing to reset, to move or
//     to lose.
//  2. A knot's total is read after its time, the live total before its time.
//     So the count from a knot until now has only adds of that stretch.
//  3. Readings of one source are taken under the ring's lock, in the order in
//     which they are stored. Sources that only grow make curves that only grow.
//  4. A source that panics leaves no lock held: locks under which one is read
//     are given back by defer.
//  5. The axis is the elapsed clock. Nothing is placed or searched by wall time.
//  6. A bucket holds moments of one multiple of its resolution on the wall clock,
//     until the next tick's reading. All rungs that end a bucket do it with the
//     same reading, so a coarse bucket is the sum of the finer ones.
//
// Locks are taken in the order Ring or rotor, then Sampler. No lock of the
// sampler is held while a source is read.
//
// Rejected: buckets that writers add to and reset when stale, which lose adds
// at rotations or make every add pay for a clock and a lock. A slot for every
// tick, which costs idle windows memory, and a loop to catch up after a stall.
// A flag that writers set, to sweep only what is dirty: reading an idle counter
// takes less time in a second than one flag does in the adds of a second. Time
// of suspends on the axis: it cannot be told from setting the clock forward,
// which would empty the ring.
//
// Limits: what is added and taken away again within one bucket is not seen. The
// edges of buckets are late by the time it takes to sweep a chunk, see
// sweepChunk; only the ends of Last are strict. Windows of equal resolution are
// swept in one go, and other resolutions wait for that.

// A Source is a cumulative total, such as a *stripe.Counter. Value is called
// from the sampler's goroutine and from readers of the window, one at a time.
// It must be quick and must not call back into the window. Draining the source
// shows as a negative count.
type Source interface {
	Value() int64
}

// SourceFunc is a function used as a Source.
type SourceFunc func() int64

// Value calls f.
func (f SourceFunc) Value() int64 { return f() }

// A Ring counts what is added to a source over the last stretches of time.
// Whoever adds to the source does not know of the ring, and pays nothing for
// it.
//
// All methods may be called from any goroutine. An add to the source that
// happens before a call is included in it.
type Ring struct {
	seat
	src     Source
	sampler *Sampler
	own     *Sampler // sampler, if it ends with the ring

	// mu guards everything below, and the order of readings of src: a total
	// that is read later is never stored before one that is read earlier.
	mu      sync.Mutex
	closed  bool
	rungs   []rung // finest first, each resolution a multiple of the one before
	base    int64  // the total at which the ring began
	resumed int64  // when it was restored: what is before was counted by an earlier run
	outages []stretch
	rates   ewma
	end     knot // of a closed ring
}

// A rung is the source's curve at one resolution.
type rung struct {
	resolution int64
	seen       int64 // when src was last read for the curve; it is flat from the newest knot to here
	bucket     int64 // that seen is in: where it starts, by the wall clock
	curve
}

// New returns a ring over src. What src holds already is not in it. Close the
// ring when it is no longer needed: the sampler keeps it alive until then.
//
// The error wraps ErrOptions.
func New(src Source, o Options) (*Ring, error) {
	ladder, err := o.ladder()
	if err != nil {
		return nil, err
	}
	w := &Ring{src: src, rungs: make([]rung, len(ladder)), resumed: math.MinInt64}
	w.sampler, w.own = drive(o.Sampler)
	w.start(ladder)
	w.sample(w.sampler.enter(&w.seat, w, ladder[0].Resolution))
	return w, nil
}

func (w *Ring) start(ladder []Rung) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, wall := w.sampler.moment()
	w.base = w.src.Value()
	w.rates.at = at
	for i, r := range ladder {
		g := &w.rungs[i]
		g.resolution = int64(r.Resolution)
		g.limit = r.Buckets + 1 // a bucket has two edges
		g.seen, g.bucket = at, bucketOf(wall, g.resolution)
		g.push(knot{at, w.base})
	}
}

// Close takes the ring off its sampler. What it holds can still be read, and
// stays as it is. Close may be called more than once.
func (w *Ring) Close() {
	if !w.finish() {
		return
	}
	w.sampler.leave(&w.seat)
	if w.own != nil {
		w.own.Close()
	}
}

// finish makes what the ring holds now all that it will hold, and reports
// whether it was open.
func (w *Ring) finish() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.end = w.live()
	w.closed = true
	return true
}

// sample implements sampled. It ends the buckets that at is no longer in,
// however short they are.
func (w *Ring) sample(at, bucket int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	finest := &w.rungs[0]
	if w.closed || at <= finest.seen || bucket == finest.bucket {
		return
	}
	total := w.src.Value()
	if before := finest.newest().total; total != before {
		w.rates.observe(finest.seen, 0)
		w.rates.observe(at, total-before)
	}
	for i := range w.rungs {
		if g := &w.rungs[i]; bucket < g.bucket || bucket >= g.bucket+g.resolution {
			g.record(at, total)
			g.bucket = bucketOf(bucket, g.resolution)
		}
	}
}

// record takes in that the total was read just after at.
func (g *rung) record(at, total int64) {
	if last := g.newest(); total != last.total {
		if g.seen > last.at {
			g.push(knot{g.seen, last.total})
		}
		g.push(knot{at, total})
	}
	g.seen = at
}

// live returns the present end of all curves. The source is read before the
// clock, so the end holds no add made after it. The ring is locked.
func (w *Ring) live() knot {
	if w.closed {
		return w.end
	}
	total := w.src.Value()
	return knot{w.sampler.now(), total}
}

// Last returns what was added in the last d: from the newest known moment that
// is at least d ago, until now. Covered says how long that is exactly. It is
// longer than d by at most one bucket, of the finest rung that reaches back so
// far, and shorter if none does.
//
// It costs a read of the source and a binary search.
func (w *Ring) Last(d time.Duration) Span {
	start, end, outages := w.ends(d)
	return w.sampler.timeline().span(end.total-start.total, start.at, end.at, outages)
}

// ends returns what Last is the difference of, and the ring's outages.
func (w *Ring) ends(d time.Duration) (start, end knot, outages []stretch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end = w.live()
	return w.edge(end.at - int64(max(d, 0))), end, w.outages
}

// edge returns the newest point known that is not after t, or the oldest of
// all.
func (w *Ring) edge(t int64) knot {
	oldest := &w.rungs[0]
	for i := range w.rungs {
		g := &w.rungs[i]
		if g.oldest().at <= t {
			return g.edge(t)
		}
		if g.oldest().at < oldest.oldest().at {
			oldest = g
		}
	}
	return oldest.oldest()
}

// edge returns the newest point of the curve that is known and not after t,
// which is not before the oldest knot.
func (g *rung) edge(t int64) knot {
	i := g.before(t)
	k := *g.slot(i)
	switch {
	case i == g.len()-1:
		k.at = max(k.at, min(t, g.seen))
	case g.slot(i+1).total == k.total:
		k.at = t
	}
	return k
}

// Buckets returns the buckets of the finest rung, oldest first. The last one is
// live: it began at the last tick and is still growing.
func (w *Ring) Buckets() []Bucket {
	return w.BucketsOf(time.Duration(w.rungs[0].resolution))
}

// BucketsOf returns the buckets of the rung with the given resolution, as
// Buckets does, or nil if the ring has no such rung.
func (w *Ring) BucketsOf(resolution time.Duration) []Bucket {
	for i := range w.rungs {
		if w.rungs[i].resolution == int64(resolution) {
			return w.buckets(&w.rungs[i])
		}
	}
	return nil
}

func (w *Ring) buckets(g *rung) []Bucket {
	edges, outages, line := w.edges(g)
	buckets := make([]Bucket, len(edges)-1)
	for i := range buckets {
		from, to := edges[i], edges[i+1]
		buckets[i] = Bucket{time.Unix(0, line.wall(from.at)), line.span(to.total-from.total, from.at, to.at, outages)}
	}
	return buckets
}

// edges returns the bounds of the rung's buckets, the ring's outages, and the
// labels of all of them.
func (w *Ring) edges(g *rung) ([]knot, []stretch, timeline) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := w.live()
	line := w.sampler.timeline()
	return g.edges(end, line), w.outages, line
}

// edges returns the bounds of the curve's buckets, oldest first: the newest
// ones up to the rung's number of buckets, and the live end.
func (g *rung) edges(end knot, line timeline) []knot {
	edges := append(make([]knot, 0, g.limit+1), end)
	to := knot{g.seen, g.newest().total}
	edges = append(edges, to)
	for i := g.len() - 1; i >= 0 && len(edges) < cap(edges); i-- {
		from := *g.slot(i)
		if from.total == to.total {
			edges = g.appendFlat(edges, from.at, to, line)
		} else {
			edges = append(edges, from)
		}
		to = from
	}
	slices.Reverse(edges)
	return edges
}

// appendFlat appends the lower bounds of the idle buckets between from and to,
// newest first, as many as there is room for. They are where ticks were due.
// The last tick was late; by less than half a bucket, that widens the one before.
func (g *rung) appendFlat(edges []knot, from int64, to knot, line timeline) []knot {
	for to.at > from && len(edges) < cap(edges) {
		width := floorMod(line.wall(to.at), g.resolution)
		if width < g.resolution/2 {
			width += g.resolution
		}
		to.at = max(from, to.at-width)
		edges = append(edges, to)
	}
	return edges
}

// Rates returns the exponentially weighted rates, as of the last tick of the
// finest rung.
func (w *Ring) Rates() Rates {
	w.mu.Lock()
	e := w.rates
	e.observe(w.rungs[0].seen, 0)
	w.mu.Unlock()
	return e.rates()
}

// RingStats accounts for a ring. Added is what was added to the source since
// the ring began or was restored, the restored counts included. It is the sum
// of Buckets and Evicted when no writer is active.
type RingStats struct {
	Added   int64
	Evicted int64 // left the finest rung
	Bytes   int   // of memory
}

// Stats accounts for the ring.
func (w *Ring) Stats() RingStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := w.live()
	line := w.sampler.timeline()
	st := RingStats{
		Added:   end.total - w.base,
		Evicted: w.rungs[0].edges(end, line)[0].total - w.base,
		Bytes:   int(unsafe.Sizeof(*w)) + cap(w.outages)*int(unsafe.Sizeof(stretch{})),
	}
	for i := range w.rungs {
		st.Bytes += int(unsafe.Sizeof(rung{})) + cap(w.rungs[i].knots)*int(unsafe.Sizeof(knot{}))
	}
	return st
}
