package window

import (
	"math"
	"slices"
	"time"
)

// A track is the windows of one resolution, swept together. Ticks are where
// the wall clock is a multiple of the resolution, so buckets of one resolution
// begin at the same moments in every ring and every process.
type track struct {
	resolution int64
	bucket     int64 // of the last tick
	due        int64 // axis time of the next tick
	seats      []*seat
}

// A seat is a window's place on its track.
type seat struct {
	window sampled
	track  *track
	index  int // in track.seats
}

// A sampled window is told of each tick of its track, with the bucket of the
// track's resolution that the tick is in. If its own is another, it ends that.
// So being told too often does no harm.
type sampled interface {
	sample(at, bucket int64)
}

// bucketOf returns where the bucket starts that a label is in.
func bucketOf(wall, resolution int64) int64 { return wall - floorMod(wall, resolution) }

// schedule sets the next tick to the next multiple of the resolution on the
// wall clock. The wait is taken on the axis, so setting the clock back cannot
// freeze a track.
func (t *track) schedule(wall, at int64) {
	t.bucket = bucketOf(wall, t.resolution)
	t.due = at + t.bucket + t.resolution - wall
}

// enter seats w on the track of its resolution. Since w began, a tick may have
// come that it does not know of, so w must sample what enter returns.
func (s *Sampler) enter(e *seat, w sampled, resolution time.Duration) (at, bucket int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.track(int64(resolution))
	if t == nil {
		t = &track{resolution: int64(resolution)}
		at, wall := s.read()
		t.schedule(wall, at)
		s.tracks = append(s.tracks, t)
		select {
		case s.wake <- struct{}{}:
		default: // already going to look
		}
	}
	*e = seat{window: w, track: t, index: len(t.seats)}
	t.seats = append(t.seats, e)
	at, wall := s.read()
	return at, bucketOf(wall, t.resolution)
}

func (s *Sampler) track(resolution int64) *track {
	for _, t := range s.tracks {
		if t.resolution == resolution {
			return t
		}
	}
	return nil
}

// leave gives the seat up. A sweep that has already picked the window may
// still sample it once.
func (s *Sampler) leave(e *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seats := e.track.seats
	last := len(seats) - 1
	seats[e.index] = seats[last]
	seats[e.index].index = e.index
	seats[last] = nil
	e.track.seats = seats[:last]
	if last == 0 {
		s.tracks = slices.DeleteFunc(s.tracks, func(t *track) bool { return t == e.track })
	}
}

// sweepChunk is how many windows a sweep takes under one hold of the lock, so
// that windows can be made and closed during a long sweep, and after one reading
// of the clock, so that samples are as old as they say to within a few
// microseconds.
const sweepChunk = 64

// sweep samples the windows that were on the track when it began, last seat
// first. leave moves a last seat forward, so a window may be sampled twice but
// none is passed over. It returns how many sources panicked.
//
// The clock is read before a source is, so a sample may hold adds made after
// its time but misses none made before it.
func (s *Sampler) sweep(t *track) (panics uint64) {
	var chunk [sweepChunk]sampled
	for end := math.MaxInt; end > 0; {
		n := 0
		s.mu.Lock()
		end = min(end, len(t.seats))
		for ; end > 0 && n < len(chunk); n++ {
			end--
			chunk[n] = t.seats[end].window
		}
		s.mu.Unlock()
		at, wall := s.moment()
		bucket := bucketOf(wall, t.resolution)
		for _, w := range chunk[:n] {
			if !sampleOne(w, at, bucket) {
				panics++
			}
		}
	}
	return panics
}

// sampleOne reports whether w was sampled. A source that panics must not take
// the sampler with it, and all other windows too.
func sampleOne(w sampled, at, bucket int64) (ok bool) {
	defer func() {
		if !ok {
			recover()
		}
	}()
	w.sample(at, bucket)
	return true
}

// floorMod is a mod m in 0..m-1, for m > 0.
func floorMod(a, m int64) int64 {
	r := a % m
	if r < 0 {
		r += m
	}
	return r
}
