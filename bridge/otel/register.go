package otel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"

	"github.com/hotcount/hotcount"
)

// maxAge is how old a View may be that a callback takes its values from. The
// callbacks of one collection run within that of each other, and those of two
// do not.
const maxAge = 100 * time.Millisecond

// Register makes observable instruments on a Meter for all that an engine holds
// and will hold, until Unregister. The error says which instrument the Meter
// refused; nothing is then registered. See the package comment for what a
// Producer does better.
func Register(m metric.Meter, e *hotcount.Engine, o Options) (metric.Registration, error) {
	// busy, so that the callbacks of a collection that goes on meanwhile do not
	// make the same instruments: the SDK would add up what two callbacks observe.
	r := &registration{engine: e, meter: m, namer: newNamer(o), made: make(map[string]bool), busy: true}
	r.mu.Lock()
	r.refresh()
	missing := r.missing()
	r.mu.Unlock()
	if err := r.create(missing); err != nil {
		return nil, errors.Join(err, r.Unregister())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
	r.taken = time.Time{} // a first collection is to take its own View
	return r, nil
}

// A registration is what Register returns. There is no end to a collection that
// it could see, and a Meter takes no instruments while it collects. So each
// instrument has a callback of its own, the first one of a collection takes a
// View for the others, and instruments that are missing are made beside the
// collection.
type registration struct {
	embedded.Registration
	engine *hotcount.Engine
	meter  metric.Meter
	namer  namer

	making sync.WaitGroup

	mu     sync.Mutex
	closed bool
	busy   bool            // making instruments, as one caller at a time does
	made   map[string]bool // instruments, by name; false for one that the Meter refused
	parts  []metric.Registration

	view   hotcount.View // empty, for its memory
	taken  time.Time
	found  []*instrument
	points map[string][]point
	served map[string]bool // whose points of this View were observed
}

// refresh takes a View. The caller holds mu.
func (r *registration) refresh() {
	r.points, r.found = make(map[string][]point), r.found[:0]
	r.served = make(map[string]bool)
	r.engine.View(&r.view)
	r.taken = time.Now()
	newWalk(&r.namer, func(m *instrument, p point) {
		if r.points[m.name] == nil {
			r.found = append(r.found, m)
		}
		r.points[m.name] = append(r.points[m.name], p)
	}).view(&r.view)
	release(&r.view)
}

// missing returns the instruments that the last View asks for and that there
// are not.
func (r *registration) missing() []*instrument {
	var missing []*instrument
	for _, m := range r.found {
		if _, known := r.made[m.name]; !known {
			missing = append(missing, m)
		}
	}
	return missing
}

// current returns the points of an instrument, each View's once.
func (r *registration) current(name string) []point {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if r.served[name] || time.Since(r.taken) > maxAge {
		r.refresh()
		r.makeMissing()
	}
	r.served[name] = true
	return r.points[name]
}

// makeMissing makes missing instruments in a goroutine, which waits for the
// collection that goes on. The caller holds mu.
func (r *registration) makeMissing() {
	missing := r.missing()
	if len(missing) == 0 || r.busy {
		return
	}
	r.busy = true
	r.making.Go(func() {
		if err := r.create(missing); err != nil {
			api.Handle(err)
		}
		r.mu.Lock()
		r.busy = false
		r.mu.Unlock()
	})
}

// create makes instruments with their callbacks. It goes on after an error.
func (r *registration) create(missing []*instrument) error {
	var errs []error
	for _, m := range missing {
		part, err := r.observe(m)
		if err != nil {
			errs = append(errs, err)
		}
		r.mu.Lock()
		r.made[m.name] = err == nil
		if err == nil {
			r.parts = append(r.parts, part)
		}
		r.mu.Unlock()
	}
	return errors.Join(errs...)
}

// observe makes an instrument and registers its callback.
func (r *registration) observe(m *instrument) (metric.Registration, error) {
	text, unit := metric.WithDescription(m.description), metric.WithUnit(m.unit)
	if m.kind == floatGauge {
		g, err := r.meter.Float64ObservableGauge(m.name, text, unit)
		if err != nil {
			return nil, refused(m, err)
		}
		return r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			for _, p := range r.current(m.name) {
				o.ObserveFloat64(g, p.f, metric.WithAttributeSet(p.attributes))
			}
			return nil
		}, g)
	}
	var i metric.Int64Observable
	var err error
	switch m.kind {
	case sum:
		i, err = r.meter.Int64ObservableCounter(m.name, text, unit)
	case upDown:
		i, err = r.meter.Int64ObservableUpDownCounter(m.name, text, unit)
	default:
		i, err = r.meter.Int64ObservableGauge(m.name, text, unit)
	}
	if err != nil {
		return nil, refused(m, err)
	}
	return r.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, p := range r.current(m.name) {
			o.ObserveInt64(i, p.n, metric.WithAttributeSet(p.attributes))
		}
		return nil
	}, i)
}

// Unregister implements metric.Registration. It must not be called from a
// callback.
func (r *registration) Unregister() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.making.Wait()
	r.mu.Lock()
	parts := r.parts
	r.parts = nil
	r.mu.Unlock()
	var errs []error
	for _, p := range parts {
		errs = append(errs, p.Unregister())
	}
	return errors.Join(errs...)
}

func refused(m *instrument, err error) error {
	return fmt.Errorf("hotcount/otel: instrument %s: %w", m.name, err)
}
