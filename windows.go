package hotcount

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

// windows holds the engine's windows. Adds to counters do not know of theirs:
// one sampler reads the counters at its ticks.
type windows struct {
	mu      sync.Mutex
	sampler *window.Sampler // nil before the first window
	closed  bool
	rings   map[*entry]*windowed
	events  map[seriesName]namedWindow[*window.Events, window.EventsOptions]
	uniques map[seriesName]namedWindow[*window.Uniques, window.UniquesOptions]
}

func (w *windows) makeMaps() {
	if w.rings == nil {
		w.rings = make(map[*entry]*windowed)
		w.events = make(map[seriesName]namedWindow[*window.Events, window.EventsOptions])
		w.uniques = make(map[seriesName]namedWindow[*window.Uniques, window.UniquesOptions])
	}
}

type windowed struct {
	ring *window.Ring
	o    window.Options
	// pinned: asked for by its counter, which then must not leave the
	// engine; else by the family, and the ring goes with the series.
	pinned bool
}

// Sampler returns the sampler that drives the engine's windows, for windows of
// your own over other things: give it to window.NewUniques, NewMax or New. It
// is closed by Close.
func (e *Engine) Sampler() *window.Sampler {
	e.windows.mu.Lock()
	defer e.windows.mu.Unlock()
	return e.windows.started()
}

func (w *windows) started() *window.Sampler {
	if w.sampler == nil {
		w.sampler = window.NewSampler(window.SamplerOptions{})
		if w.closed {
			w.sampler.Close()
		}
		w.makeMaps()
	}
	return w.sampler
}

func (w *windows) close() {
	w.mu.Lock()
	w.closed = true
	s := w.sampler
	w.mu.Unlock()
	if s != nil { // without the lock: a source that is being read may want it
		s.Close()
	}
}

// Window returns the window over a counter: what was added over the last while,
// without making an add any slower. The first call makes it, and fills it with
// what the last run's snapshot has of it; later calls return the same window
// and must have the same options. The counter is then exempt from IdleAfter.
// Leave o.Sampler nil: the engine drives the window, until Close.
//
// Make windows when the program starts, before the counter is added to: what is
// in the counter already is in no window.
func (e *Engine) Window(c *Counter, o window.Options) (*window.Ring, error) {
	defer e.logWarnings()
	e.mu.Lock() // no sweep may evict the series while its window is opened
	defer e.mu.Unlock()
	ring, err := e.windows.open((*entry)(c), o, true)
	if err != nil {
		return nil, fmt.Errorf("hotcount: window over %v: %w", c.Key(), err)
	}
	e.unpark((*entry)(c)) // it stays from now on
	return ring, nil
}

// open returns the window over s, making it if need be. A pinned one must have
// these options.
func (w *windows) open(s *entry, o window.Options, pin bool) (*window.Ring, error) {
	if o.Sampler != nil {
		return nil, fmt.Errorf("%w: the engine has its own sampler", window.ErrOptions)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	driven := o
	driven.Sampler = w.started()
	if have := w.rings[s]; have != nil {
		if pin && !sameOptions(have.o, o) {
			return nil, fmt.Errorf("%w: it is open with other options", window.ErrOptions)
		}
		have.pinned = have.pinned || pin
		return have.ring, nil
	}
	ring, err := window.New(&s.count, driven)
	if err != nil {
		return nil, err
	}
	if rows := s.fam.restored.takeWindow(s.labels); len(rows) > 0 {
		if err := ring.Restore(rows); err != nil {
			s.fam.engine.warnWindow(seriesName{s.fam, s.labels}, err)
		}
	}
	w.rings[s] = &windowed{ring: ring, o: o, pinned: pin}
	return ring, nil
}

func sameOptions(a, b window.Options) bool {
	return a.Resolution == b.Resolution && a.Buckets == b.Buckets && slices.Equal(a.Coarser, b.Coarser)
}

// pins reports whether a window keeps s in the engine.
func (w *windows) pins(s *entry) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	have := w.rings[s]
	return have != nil && have.pinned
}

// drop ends the window of a series that leaves the engine.
func (w *windows) drop(s *entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if have := w.rings[s]; have != nil {
		have.ring.Close()
		delete(w.rings, s)
	}
}

// stats returns the health of the sampler, if there is one.
func (w *windows) stats() (st window.SamplerStats, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sampler == nil {
		return st, false
	}
	return w.sampler.Stats(), true
}

// appendRows appends all windows to a snapshot.
func (w *windows) appendRows(s *snapshot.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, have := range w.rings {
		s.AppendWindow(c.key(), have.ring)
	}
	w.appendNamed(s)
}

// A WindowVec is a window over each counter of a family, those included that
// are yet to come. It is safe for concurrent use.
type WindowVec struct{ vec vec }

// WindowVec returns windows over all counters of a family. Each lasts as long
// as its series is in the engine; a counter that has a window already keeps
// that. Options other than in an earlier call are an error. See Window.
func (e *Engine) WindowVec(v *CounterVec, o window.Options) (*WindowVec, error) {
	if err := v.f.keepWindows(o); err != nil {
		return nil, fmt.Errorf("hotcount: windows over %s: %w", v.f.desc.Name(), err)
	}
	w := &WindowVec{v.vec}
	w.each(func(*entry, *window.Ring) {})
	return w, nil
}

// keepWindows makes every series that comes into the family open a window.
func (f *family) keepWindows(o window.Options) error {
	if o.Sampler != nil {
		return fmt.Errorf("%w: the engine has its own sampler", window.ErrOptions)
	}
	probe, err := window.New(new(stripe.Counter), o)
	if err != nil {
		return err
	}
	probe.Close()
	if !f.windows.CompareAndSwap(nil, &o) && !sameOptions(*f.windows.Load(), o) {
		return fmt.Errorf("%w: they are open with other options", window.ErrOptions)
	}
	return nil
}

// openWindow returns the window of a series whose family keeps windows, nil for
// others.
func (f *family) openWindow(s *entry) *window.Ring {
	o := f.windows.Load()
	if o == nil {
		return nil
	}
	ring, err := f.engine.windows.open(s, *o, false)
	if err != nil {
		panic(err) // keepWindows has tried the options
	}
	return ring
}

// With returns the window over the counter with these label values, which it
// makes as CounterVec.With does.
func (v *WindowVec) With(values ...string) *window.Ring {
	e := v.vec.f.engine
	defer e.logWarnings()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := v.vec.with(values)
	if s.fam != v.vec.f { // the overflow series has no window by itself
		s.fam.windows.CompareAndSwap(nil, v.vec.f.windows.Load())
	}
	return s.fam.openWindow(s)
}

// each calls f with every series of the family and its window, and opens those
// that are not open yet. No sweep evicts a series meanwhile, which would leave
// its window behind.
func (v *WindowVec) each(f func(*entry, *window.Ring)) {
	e := v.vec.f.engine
	defer e.logWarnings()
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.index.All {
		if s.fam == v.vec.f {
			f(s, s.fam.openWindow(s))
		}
	}
}

// A Mover is a counter with what was added to it of late.
type Mover struct {
	Key series.Key
	window.Span
}

// Top returns the n counters of the family to which most was added in the last
// d, as their windows say, the busiest first. It reads every window of the
// family, and waits for a snapshot that is being taken.
func (v *WindowVec) Top(n int, d time.Duration) []Mover {
	var movers []Mover
	v.each(func(s *entry, ring *window.Ring) {
		movers = append(movers, Mover{s.key(), ring.Last(d)})
	})
	slices.SortFunc(movers, func(a, b Mover) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Key.Compare(b.Key))
	})
	return movers[:min(max(n, 0), len(movers))]
}
