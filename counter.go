package hotcount

import (
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/stripe"
)

// A Counter counts one series of an Engine. It comes from Engine.Counter or
// CounterVec.With, is never nil, and stays valid for as long as it is held. All
// methods are safe for concurrent use. Keep the handle where it is used often:
// an add through it costs about as much as an add to an atomic, and less once
// many cores add.
//
// An add is not a synchronization: a goroutine that sees its effect in Value
// must not conclude anything about other memory.
type Counter entry

// Inc adds one.
func (c *Counter) Inc() { c.count.Inc() }

// Add adds n, which may be negative. A count wraps around at the ends of int64.
func (c *Counter) Add(n int64) { c.count.Add(n) }

// Value returns the count: what was added since the series was made or last
// retired, and what earlier runs had counted if it was not. It holds every add
// that returned before the call. While others add, it is not a point in time;
// see stripe.Counter.Value. It costs one load for each stripe.
func (c *Counter) Value() int64 { return (*entry)(c).total() }

// Key returns the name and labels of the series.
func (c *Counter) Key() series.Key { return (*entry)(c).key() }

// Stats says how the counter is laid out and how evenly it is written, in this
// run alone. It costs a Value and an allocation.
func (c *Counter) Stats() stripe.Stats { return c.count.Stats() }

// Delete takes the series out of the engine without waiting for it to be idle:
// the next snapshot holds it as final, and it leaves when every sink has
// acknowledged that. An add after that snapshot, also through c, brings it back
// from zero and with a new start time. An overflow series stays.
func (c *Counter) Delete() { c.active.Store(deleted) }

// Counter returns the counter with this name and these labels, given as
// alternating names and values, in any order of names. The first call makes it.
//
// The names are the program's own: Counter panics if they break Prometheus'
// rules, if a label has no value, or if the metric was used with other labels
// or as another kind. Values may be any bytes, of any length and from anyone.
//
// A call costs a look-up, takes no lock and allocates nothing once the series
// exists.
func (e *Engine) Counter(name string, labels ...string) *Counter {
	return (*Counter)(e.lookUp(counters, name, labels))
}

// A CounterVec is a family of counters that differ in label values. It is safe
// for concurrent use.
type CounterVec struct{ vec }

// CounterVec returns the family of counters with this name and these label
// names. It panics as Counter does.
func (e *Engine) CounterVec(name string, labels ...string) *CounterVec {
	return &CounterVec{e.vec(counters, name, labels)}
}

// With returns the family's counter with these label values, in the order of
// the label names that the CounterVec was made with. The first call makes it.
// It panics if their number is wrong; they may be any bytes, of any length and
// from anyone.
//
// A call takes no lock and allocates nothing once the series exists.
func (v *CounterVec) With(values ...string) *Counter {
	return (*Counter)(v.with(values))
}
