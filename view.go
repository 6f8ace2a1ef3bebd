package hotcount

import (
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// A View is what an engine holds, as Engine.View fills it in: for a scraper, a
// page, or anything else that only looks. Unlike a Snapshot it takes no Seq and
// retires nothing, and it has the live windows and sketches instead of copies.
// Everything in it is in no particular order.
//
// A View holds on to what it shows until it is filled again or dropped.
type View struct {
	Taken time.Time

	Counters       []CounterView
	Uniques        []*Uniques
	Events         []EventsView
	UniquesWindows []UniquesWindowView

	// The engine's own series, which the package comment lists. The busiest
	// series and the time of a sweep are those of the last snapshot.
	Health []snapshot.CounterRow
	Gauges []snapshot.GaugeRow
}

// A CounterView is a counter as it stood when its View was filled.
type CounterView struct {
	*Counter

	// Run is what was added since Created, which is in this run: what a
	// snapshot's row has. Value also has what earlier runs counted.
	Run     int64
	Created time.Time

	Window *window.Ring // nil if the counter has none
}

// An EventsView is a window that Engine.Events made.
type EventsView struct {
	Key series.Key
	*window.Events
}

// A UniquesWindowView is a window that Engine.UniquesWindow made.
type UniquesWindowView struct {
	Key series.Key
	*window.Uniques
}

// View fills v with the state of every series, reusing its memory: into a view
// that was filled before, it allocates next to nothing. Each Run holds every add
// that returned before the call. A retired series is not in it; one that comes
// back is there from the next snapshot on. Restored totals that no series has
// taken up yet are in Totals only.
//
// A call takes about 40 ns for each series, waits for a snapshot that is being
// taken, and makes the next one wait. Adds and look-ups wait for neither.
func (e *Engine) View(v *View) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v.reset()
	v.Taken = time.Now()
	for s := range e.index.All {
		e.show(s, v)
	}
	e.windows.show(v)

	own := snapshot.Snapshot{Seq: e.sweep.seq, Taken: v.Taken, Counters: v.Health, Gauges: v.Gauges}
	e.appendHealth(&own)
	v.Health, v.Gauges = own.Counters, own.Gauges
}

// reset empties v, and lets go of what it holds.
func (v *View) reset() {
	clear(v.Counters)
	clear(v.Uniques)
	clear(v.Events)
	clear(v.UniquesWindows)
	*v = View{
		Counters:       v.Counters[:0],
		Uniques:        v.Uniques[:0],
		Events:         v.Events[:0],
		UniquesWindows: v.UniquesWindows[:0],
		Health:         v.Health[:0],
		Gauges:         v.Gauges[:0],
	}
}

// show appends one series to v. A retired one that was added to since has no
// row yet: its Created is the next sweep's to choose.
func (e *Engine) show(s *entry, v *View) {
	m := s.more.Load()
	var offset int64
	switch {
	case m == nil:
	case m.uniques != nil:
		v.Uniques = append(v.Uniques, m.uniques)
		return
	case m.retired != 0:
		return
	default:
		offset = m.offset
	}
	v.Counters = append(v.Counters, CounterView{
		Counter: (*Counter)(s),
		Run:     s.count.Value() - offset,
		Created: time.Unix(0, e.createdAt(s)),
	})
}

// show adds the windows to v.
func (w *windows) show(v *View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rings) > 0 {
		for i := range v.Counters {
			c := &v.Counters[i]
			if have := w.rings[(*entry)(c.Counter)]; have != nil {
				c.Window = have.ring
			}
		}
	}
	for id, have := range w.events {
		v.Events = append(v.Events, EventsView{id.key(), have.w})
	}
	for id, have := range w.uniques {
		v.UniquesWindows = append(v.UniquesWindows, UniquesWindowView{id.key(), have.w})
	}
}
