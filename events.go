package hotcount

import (
	"fmt"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// A namedWindow is a window that has no counter under it.
type namedWindow[W, O any] struct {
	w W
	o O
}

// Events returns a window that counts by the time that an event bears, under
// this name and these labels; see window.Events. The first call makes it, and
// fills it with what the last run's snapshot has of it; later calls return the
// same window and must have the same options. It panics as Counter does. There
// is no limit on how many there are: label values from strangers belong into
// counters.
//
// The rows are in snapshots beside those of the windows over counters.
func (e *Engine) Events(name string, o window.EventsOptions, labels ...string) (*window.Events, error) {
	defer e.logWarnings()
	f, id := e.nameWindow(events, name, labels)
	w := &e.windows
	w.mu.Lock()
	defer w.mu.Unlock()
	if have, ok := w.events[id]; ok {
		if have.o.Resolution != o.Resolution || have.o.Buckets != o.Buckets || have.o.Lateness != o.Lateness {
			return nil, otherOptions(id)
		}
		return have.w, nil
	}
	ev, err := window.NewEvents(o)
	if err != nil {
		return nil, fmt.Errorf("hotcount: events %v: %w", id.key(), err)
	}
	if err := ev.Restore(f.restored.takeWindow(id.labels)); err != nil {
		e.warnWindow(id, err)
	}
	w.makeMaps()
	w.events[id] = namedWindow[*window.Events, window.EventsOptions]{ev, o}
	return ev, nil
}

// UniquesWindow returns a window that counts the distinct elements of the last
// while, under this name and these labels; see window.Uniques. The rest is as
// with Events. Leave o.Sampler nil: the engine drives the window, until Close.
// Zero o.Sketch stands for the engine's own options of sketches.
func (e *Engine) UniquesWindow(name string, o window.UniquesOptions, labels ...string) (*window.Uniques, error) {
	defer e.logWarnings()
	f, id := e.nameWindow(uniquesWindows, name, labels)
	if o.Sampler != nil {
		return nil, fmt.Errorf("hotcount: window %v: %w: the engine has its own sampler", id.key(), window.ErrOptions)
	}
	w := &e.windows
	w.mu.Lock()
	defer w.mu.Unlock()
	if have, ok := w.uniques[id]; ok {
		if have.o != o {
			return nil, otherOptions(id)
		}
		return have.w, nil
	}
	driven := o
	driven.Sampler = w.started()
	if o.Sketch == (hll.Options{}) {
		driven.Sketch = e.sketches
	}
	u, err := window.NewUniques(driven)
	if err != nil {
		return nil, fmt.Errorf("hotcount: window %v: %w", id.key(), err)
	}
	if err := u.Restore(f.restored.takeUniquesWindow(id.labels)); err != nil {
		e.warnWindow(id, err)
	}
	w.makeMaps()
	w.uniques[id] = namedWindow[*window.Uniques, window.UniquesOptions]{u, o}
	return u, nil
}

func (e *Engine) nameWindow(k kind, name string, labels []string) (*family, seriesName) {
	f, order := e.resolve(k, name, labels, nil)
	return f, seriesName{f, pack(labels, order)}
}

func otherOptions(id seriesName) error {
	return fmt.Errorf("hotcount: window %v: %w: it is open with other options", id.key(), window.ErrOptions)
}

func (e *Engine) warnWindow(id seriesName, err error) {
	e.warn("hotcount: a window of an earlier run is lost", "series", id.key(), "error", err)
}

// appendNamed appends the windows without a counter to a snapshot. The caller
// holds w.mu.
func (w *windows) appendNamed(s *snapshot.Snapshot) {
	for id, have := range w.events {
		s.AppendWindow(id.key(), have.w)
	}
	for id, have := range w.uniques {
		s.UniquesWindows = append(s.UniquesWindows, snapshot.UniquesWindowRows{Key: id.key(), Rows: have.w.AppendRows(nil)})
	}
}

// eventsStats sums the accounts of all Events.
func (w *windows) eventsStats() (sum window.EventsStats, any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, have := range w.events {
		st := have.w.Stats()
		sum.Added += st.Added
		sum.Evicted += st.Evicted
		sum.Late += st.Late
		sum.Future += st.Future
	}
	return sum, len(w.events) > 0
}
