package window

import (
	"math"
	"sync"
	"time"
)

// A Sampler drives windows: one goroutine that reads their sources at every
// tick. Give one Sampler to all windows of a program, in their Options.
//
// All methods may be called from any goroutine.
type Sampler struct {
	clock Clock
	wake  chan struct{} // a track is new
	stop  chan struct{}
	done  chan struct{} // the goroutine has ended
	once  sync.Once     // closes stop

	mu     sync.Mutex
	tracks []*track
	line   timeline
	seen   int64 // axis time of the last clock reading
	stats  SamplerStats
}

// SamplerOptions configures a Sampler.
type SamplerOptions struct {
	// Clock is where time is read. The default is the system's.
	Clock Clock
}

// SamplerStats is the health of a Sampler, summed since it began.
type SamplerStats struct {
	Windows int    // driven now
	Ticks   uint64 // sweeps over the windows of one resolution
	Missed  uint64 // ticks that did not happen because an earlier one was late
	Jumps   uint64 // steps of the wall clock and suspends
	Panics  uint64 // of sources; such a source misses its tick

	Lag    time.Duration // how late the last tick was
	MaxLag time.Duration // how late the latest tick was
	Sweep  time.Duration // how long the last sweep took
	Busy   time.Duration // how long all sweeps took
}

// NewSampler starts a Sampler. It runs until Close.
func NewSampler(o SamplerOptions) *Sampler {
	s := &Sampler{
		clock: o.Clock,
		wake:  make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = systemClock()
	}
	wall, at := s.clock.read()
	s.line, s.seen = newTimeline(wall, at), at
	go s.run()
	return s
}

// Close stops the sampler and waits until no source is being read. Windows that
// it drove stop there; what they hold can still be read, and grows old. Close
// may be called more than once.
func (s *Sampler) Close() {
	s.once.Do(func() { close(s.stop) })
	<-s.done
}

// Stats returns the sampler's health. It costs a lock.
func (s *Sampler) Stats() SamplerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	for _, t := range s.tracks {
		st.Windows += len(t.seats)
	}
	return st
}

func (s *Sampler) run() {
	defer close(s.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Reset(s.tick())
	}
}

// tick sweeps every track that is due, each once however late it is, and
// returns how long to wait for the next.
func (s *Sampler) tick() time.Duration {
	for {
		t, began, wait := s.due()
		if t == nil {
			return wait
		}
		panics := s.sweep(t)
		s.swept(time.Duration(s.now()-began), panics)
	}
}

// due returns a track whose tick is due and the time, or how long until there
// is one. It schedules the track's next tick.
func (s *Sampler) due() (t *track, at int64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, wall := s.read()
	next := int64(math.MaxInt64)
	for _, u := range s.tracks {
		if u.due <= at && u.bucket == bucketOf(wall, u.resolution) {
			u.schedule(wall, at) // the wall clock went back within the bucket
		}
		if u.due < next {
			t, next = u, u.due
		}
	}
	if t == nil {
		return nil, at, math.MaxInt64
	}
	if next > at {
		return nil, at, time.Duration(next - at)
	}
	lag := at - next
	s.stats.Ticks++
	s.stats.Missed += uint64(lag / t.resolution)
	s.stats.Lag = time.Duration(lag)
	s.stats.MaxLag = max(s.stats.MaxLag, s.stats.Lag)
	t.schedule(wall, at)
	return t, at, 0
}

func (s *Sampler) swept(took time.Duration, panics uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Sweep = took
	s.stats.Busy += took
	s.stats.Panics += panics
}

// now returns the present moment on the axis.
func (s *Sampler) now() int64 {
	_, at := s.clock.read()
	return at
}

// moment returns the present moment on the axis, and its label.
func (s *Sampler) moment() (at, wall int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

// read is moment for who holds s.mu: under it, labels are given in the order of
// the moments, and so stay as they are.
func (s *Sampler) read() (at, wall int64) {
	wall, at = s.clock.read()
	if s.line.observe(wall, at, at-s.seen) {
		s.stats.Jumps++
	}
	s.seen = at
	return at, s.line.wall(at)
}

// timeline returns the labels of all moments that were asked for until now.
func (s *Sampler) timeline() timeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}
