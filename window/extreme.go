package window

import (
	"fmt"
	"time"

	"github.com/hotcount/hotcount/stripe"
)

// An Extreme is the largest or the smallest of the values observed in a span.
type Extreme struct {
	Value int64
	// OK is false if nothing was observed; Value is then 0.
	OK bool
	// Covered and Gap are those of a Span.
	Covered, Gap time.Duration
}

// A Max is the largest value observed over the last stretches of time, kept in
// a stripe.Max for each bucket. All methods may be called from any goroutine.
type Max struct{ r rotor[stripe.Max] }

// A Min is the smallest value observed over the last stretches of time, kept in
// a stripe.Min for each bucket. All methods may be called from any goroutine.
type Min struct{ r rotor[stripe.Min] }

// NewMax returns a window over the largest value. It has no coarser rungs, so
// the zero Options stand for 60 buckets of a second, and Coarser must be empty.
//
// The error wraps ErrOptions.
func NewMax(o Options) (*Max, error) {
	g, err := o.rung()
	if err != nil {
		return nil, err
	}
	m := new(Max)
	m.r.init(g, o.Sampler, func() *stripe.Max { return new(stripe.Max) }, func(b *stripe.Max) bool {
		_, ok := b.Value()
		return !ok
	})
	return m, nil
}

// NewMin returns a window over the smallest value, as NewMax does.
func NewMin(o Options) (*Min, error) {
	g, err := o.rung()
	if err != nil {
		return nil, err
	}
	m := new(Min)
	m.r.init(g, o.Sampler, func() *stripe.Min { return new(stripe.Min) }, func(b *stripe.Min) bool {
		_, ok := b.Value()
		return !ok
	})
	return m, nil
}

// rung returns the only rung that o asks for.
func (o Options) rung() (Rung, error) {
	if len(o.Coarser) > 0 {
		return Rung{}, fmt.Errorf("%w: a window over extremes has no coarser rungs", ErrOptions)
	}
	g := Rung{o.Resolution, o.Buckets}.withDefaults()
	return g, g.check()
}

// Observe takes v into account, as stripe.Max does. It reads no clock.
func (m *Max) Observe(v int64) { m.r.cur.Load().Observe(v) }

// Observe takes v into account, as stripe.Min does. It reads no clock.
func (m *Min) Observe(v int64) { m.r.cur.Load().Observe(v) }

// Last returns the largest value of the last d, from the beginning of the bucket
// that d ago was in. It costs a read of each bucket.
func (m *Max) Last(d time.Duration) Extreme {
	return extremeOf(&m.r, d, (*stripe.Max).Value, func(v, best int64) bool { return v > best })
}

// Last returns the smallest value of the last d, from the beginning of the
// bucket that d ago was in. It costs a read of each bucket.
func (m *Min) Last(d time.Duration) Extreme {
	return extremeOf(&m.r, d, (*stripe.Min).Value, func(v, best int64) bool { return v < best })
}

// Close takes the window off its sampler. It may be called more than once.
func (m *Max) Close() { m.r.close() }

// Close takes the window off its sampler. It may be called more than once.
func (m *Min) Close() { m.r.close() }

// extremeOf returns the best of the values of the buckets of the last d.
func extremeOf[T any](r *rotor[T], d time.Duration, value func(*T) (int64, bool), better func(v, best int64) bool) Extreme {
	parts, from := r.last(d)
	var e Extreme
	for _, p := range parts {
		if v, ok := value(p); ok && (!e.OK || better(v, e.Value)) {
			e.Value, e.OK = v, true
		}
	}
	s := r.span(from)
	e.Covered, e.Gap = s.Covered, s.Gap
	return e
}
