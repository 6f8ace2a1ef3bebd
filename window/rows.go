package window

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	// ErrRows is wrapped by the error for rows that no window can have
	// written.
	ErrRows = errors.New("hotcount/window: invalid rows")
	// ErrClosed is returned for restoring a closed window.
	ErrClosed = errors.New("hotcount/window: closed")
)

// A Row is some of a window as plain data, for a snapshot: what was added in
// Width, beginning when the wall clock showed Start. Idle buckets that follow one
// another are one row. Rows of one resolution are listed oldest first; where one
// does not begin at the end of the one before, nobody watched.
type Row struct {
	Resolution time.Duration
	Start      int64 // Unix nanoseconds
	Width      time.Duration
	Count      int64
	Earlier    bool // counted by an earlier run, and restored by this one
}

// Bucket returns the bucket that the row belongs to: where it starts, in Unix
// nanoseconds, which is a multiple of the Resolution. It panics if that is 0.
func (r Row) Bucket() int64 { return bucketOf(r.Start, int64(r.Resolution)) }

// watched calls emit for each part of the stretch that is in no outage.
func watched(s stretch, outages []stretch, emit func(stretch)) {
	for _, o := range outages {
		if o.to <= s.from || o.from >= s.to {
			continue
		}
		if o.from > s.from {
			emit(stretch{s.from, o.from})
		}
		s.from = o.to
	}
	if s.from < s.to {
		emit(s)
	}
}

// lay places rows of a former run on the axis before now, in place: given are
// the wall times of each, oldest first. It returns the outages between them.
//
// What ends later than the next begins, or later than now, is moved back to
// there: the wall clock was set back in between, and how long ago it was nobody
// can tell.
func lay(rows []stretch, wallNow, now int64) (outages []stretch, err error) {
	next := wallNow
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		width := r.to - r.from
		if r.from < 0 || width <= 0 {
			return nil, fmt.Errorf("%w: row %d of %d: width %v from Unix time %v", ErrRows, i, len(rows),
				time.Duration(width), time.Duration(r.from))
		}
		end := min(r.to, next)
		if end < width {
			return nil, fmt.Errorf("%w: row %d of %d begins before 1970", ErrRows, i, len(rows))
		}
		if end < next {
			outages = append(outages, stretch{end - wallNow + now, next - wallNow + now})
		}
		next = end - width
		*r = stretch{next - wallNow + now, end - wallNow + now}
	}
	slices.Reverse(outages)
	return outages, nil
}

// AppendRows appends the ring's rows to dst, rung by rung, for Restore in a
// later run. A row's count may hold adds made while the sampler was sweeping
// past its end.
func (w *Ring) AppendRows(dst []Row) []Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := w.live()
	line := w.sampler.timeline()
	for i := range w.rungs {
		dst = w.appendRows(dst, &w.rungs[i], end, line)
	}
	return dst
}

func (w *Ring) appendRows(dst []Row, g *rung, end knot, line timeline) []Row {
	from := g.oldest()
	add := func(to knot) {
		count := to.total - from.total
		watched(stretch{from.at, to.at}, w.outages, func(s stretch) {
			dst = append(dst, Row{
				Resolution: time.Duration(g.resolution),
				Start:      line.wall(s.from),
				Width:      time.Duration(s.to - s.from),
				Count:      count,
				Earlier:    s.from < w.resumed,
			})
		})
		from = to
	}
	for i := 1; i < g.len(); i++ {
		add(*g.slot(i))
	}
	if g.seen > from.at {
		add(knot{g.seen, from.total})
	}
	if end.at > from.at {
		add(end)
	}
	return dst
}

// Restore puts the rows of an earlier run into the ring, in place of all it
// holds. Each rung takes the rows of its resolution; others are left out. The
// time since the last row is marked as a gap.
//
// The source's total at this moment counts as old: however large a total was
// restored into the source before, it is no burst. So restore a ring before
// anything is added to the source that should be in the window.
//
// The error wraps ErrRows, or is ErrClosed; the ring is then as it was.
func (w *Ring) Restore(rows []Row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	now, wall := w.sampler.moment()
	laid := make([][]stretch, len(w.rungs))
	counts := make([][]int64, len(w.rungs))
	for _, r := range rows {
		for i := range w.rungs {
			if w.rungs[i].resolution == int64(r.Resolution) {
				laid[i] = append(laid[i], stretch{r.Start, r.Start + int64(r.Width)})
				counts[i] = append(counts[i], r.Count)
			}
		}
	}
	// Every rung had the same outages, as far as it reaches back.
	var outages []stretch
	oldest := now
	for i := range laid {
		out, err := lay(laid[i], wall, now)
		if err != nil {
			return err
		}
		if len(laid[i]) > 0 && laid[i][0].from < oldest {
			outages, oldest = out, laid[i][0].from
		}
	}

	total := w.src.Value()
	w.outages, w.resumed = outages, now
	for i := range w.rungs {
		g := &w.rungs[i]
		g.restore(laid[i], counts[i], knot{now, total})
		g.bucket = bucketOf(wall, g.resolution)
	}
	w.rates = ewma{}
	w.base = total
	for i, s := range laid[0] {
		w.rates.at = s.from
		w.rates.observe(s.to, counts[0][i])
		w.base -= counts[0][i]
	}
	w.rates.at = now
	return nil
}

// restore replaces the curve by one that has the given counts in the given
// stretches and ends at end.
func (g *rung) restore(rows []stretch, counts []int64, end knot) {
	g.curve = curve{limit: g.limit}
	g.seen = end.at
	if len(rows) == 0 {
		g.push(end)
		return
	}
	k := knot{rows[0].from, end.total}
	for _, n := range counts {
		k.total -= n
	}
	g.push(k)
	for i, s := range rows {
		if counts[i] == 0 {
			continue
		}
		if k = *g.newest(); k.at < s.from {
			g.push(knot{s.from, k.total})
		}
		g.push(knot{s.to, k.total + counts[i]})
	}
}
