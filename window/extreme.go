package window

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// An Extreme is the largest or the smallest of the values observed in a span.
type Extreme struct {
	Value int64
	// OK is false if nothing was observed; Value is then 0.
	OK bool
	// Covered and Gap are those of a Span.
	Covered, Gap time.Duration
}

// A Max is the largest value observed over the last stretches of time. All
// methods may be called from any goroutine.
type Max struct{ r rotor[peak] }

// A Min is the smallest value observed over the last stretches of time. All
// methods may be called from any goroutine.
type Min struct{ r rotor[peak] }

// A peak is the largest value seen. A Min observes values upside down: v ^ -1
// turns the order around and, unlike -v, has room for every int64.
type peak struct {
	top atomic.Int64
	any atomic.Bool // for the smallest top, which is also that of no value
}

func newPeak() *peak {
	p := new(peak)
	p.top.Store(math.MinInt64)
	return p
}

func (p *peak) empty() bool { return !p.any.Load() }

// observe raises the peak to v. In the common case, a v that is no news, it
// only loads.
func (p *peak) observe(v int64) {
	for top := p.top.Load(); v > top; top = p.top.Load() {
		if p.top.CompareAndSwap(top, v) {
			break
		}
	}
	if !p.any.Load() {
		p.any.Store(true)
	}
}

// NewMax returns a window over the largest value. It has no coarser rungs, so
// the zero Options stand for 60 buckets of a second, and Coarser must be empty.
//
// The error wraps ErrOptions.
func NewMax(o Options) (*Max, error) {
	m := new(Max)
	if err := startPeaks(&m.r, o); err != nil {
		return nil, err
	}
	return m, nil
}

// NewMin returns a window over the smallest value, as NewMax does.
func NewMin(o Options) (*Min, error) {
	m := new(Min)
	if err := startPeaks(&m.r, o); err != nil {
		return nil, err
	}
	return m, nil
}

func startPeaks(r *rotor[peak], o Options) error {
	g := Rung{o.Resolution, o.Buckets}.withDefaults()
	if err := g.check(); err != nil {
		return err
	}
	if len(o.Coarser) > 0 {
		return fmt.Errorf("%w: a window over extremes has no coarser rungs", ErrOptions)
	}
	r.init(g, o.Sampler, newPeak, (*peak).empty)
	return nil
}

// Observe takes v into account. It never blocks, allocates nothing and reads no
// clock.
func (m *Max) Observe(v int64) { m.r.cur.Load().observe(v) }

// Observe takes v into account. It never blocks, allocates nothing and reads no
// clock.
func (m *Min) Observe(v int64) { m.r.cur.Load().observe(^v) }

// Last returns the largest value of the last d, from the beginning of the bucket
// that d ago was in. It costs a load for each bucket.
func (m *Max) Last(d time.Duration) Extreme { return lastPeak(&m.r, d) }

// Last returns the smallest value of the last d, from the beginning of the
// bucket that d ago was in. It costs a load for each bucket.
func (m *Min) Last(d time.Duration) Extreme {
	e := lastPeak(&m.r, d)
	if e.OK {
		e.Value = ^e.Value
	}
	return e
}

// Close takes the window off its sampler. It may be called more than once.
func (m *Max) Close() { m.r.close() }

// Close takes the window off its sampler. It may be called more than once.
func (m *Min) Close() { m.r.close() }

// lastPeak returns the highest peak of the last d.
func lastPeak(r *rotor[peak], d time.Duration) Extreme {
	parts, from := r.last(d)
	var e Extreme
	for _, p := range parts {
		if p.empty() {
			continue
		}
		if top := p.top.Load(); !e.OK || top > e.Value {
			e.Value, e.OK = top, true
		}
	}
	s := r.span(from)
	e.Covered, e.Gap = s.Covered, s.Gap
	return e
}
