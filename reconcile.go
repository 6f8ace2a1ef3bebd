package hotcount

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// ErrAdjust is wrapped by the errors of Adjust about series that it cannot add
// to.
var ErrAdjust = errors.New("hotcount: cannot adjust")

// A Drift is a counter that differs from a source of truth.
type Drift struct {
	Key     series.Key
	Counted int64 // what the engine has, as in Totals
	Truth   int64
}

// Adjustment returns what has to be added to the counter.
func (d Drift) Adjustment() int64 { return d.Truth - d.Counted }

// Reconcile asks truth for the right total of every counter in Totals and
// returns those that differ, in the order of their keys. truth reports false
// for a counter that it does not know. Overflow series, which hold the rest of
// a family and so have no truth of their own, are left out. An error from truth
// or the end of ctx ends the search, and comes with the drifts found so far.
//
// It changes nothing. Each counter is read just before truth is asked for it, so
// one that others add to may show a drift that is none: look again, or stop its
// writers.
func (e *Engine) Reconcile(ctx context.Context, truth func(context.Context, series.Key) (total int64, known bool, err error)) ([]Drift, error) {
	var drifts []Drift
	var failed error
	for k, n := range e.Totals() {
		if failed = context.Cause(ctx); failed != nil {
			break
		}
		if IsOverflow(k) {
			continue
		}
		want, known, err := truth(ctx, k)
		if err != nil {
			failed = fmt.Errorf("hotcount: truth of %v: %w", k, err)
			break
		}
		if known && want != n {
			drifts = append(drifts, Drift{Key: k, Counted: n, Truth: want})
		}
	}
	slices.SortFunc(drifts, func(a, b Drift) int { return a.Key.Compare(b.Key) })
	return drifts, failed
}

// Adjust books a drift: it adds the Adjustment to the counter, which it makes if
// need be, and to the engine's own hotcount_adjustments{series="…"}. Every
// snapshot holds both or neither. Nothing is overwritten: adds made since the
// drift was found count as well, and a Drift booked twice adjusts twice.
//
// Like every row, hotcount_adjustments is about one run: a run's count less its
// adjustments is what that run was asked to add. Rows of earlier runs stay as
// they are, and a sum over runs, as the base of a Dir or a fleet total has it,
// adds them up.
//
// The error wraps ErrAdjust, and no count has changed, if the engine has no such
// counter and cannot make one: the metric has other labels or another kind by
// now, the key is that of an overflow series or of one of the engine's own, or
// Limits leave no room for a series of its own, so that the overflow series may
// hold its count already.
func (e *Engine) Adjust(d Drift) error {
	s, err := e.adjustable(d.Key)
	if err != nil {
		return fmt.Errorf("%w %v: %w", ErrAdjust, d.Key, err)
	}
	e.mu.Lock() // no snapshot comes between the two
	defer e.mu.Unlock()
	s.count.Add(d.Adjustment())
	e.adjustments.add(e, s.key(), d.Adjustment())
	return nil
}

// adjustable returns the series of a key that may have come from anywhere.
func (e *Engine) adjustable(k series.Key) (*entry, error) {
	switch {
	case k.IsZero():
		return nil, errors.New("the key names no series")
	case IsOverflow(k):
		return nil, errors.New("an overflow series holds the counts of many")
	}
	var pairs []string
	for name, value := range k.Labels() {
		pairs = append(pairs, name, value)
	}
	f, err := e.openFamily(counters, k.Name(), labelNames(pairs))
	if err != nil {
		return nil, err
	}
	order, _ := f.orderPairs(nil, pairs) // they are its labels
	s := f.get(pairs, order)
	if s.fam != f {
		return nil, errors.New("its family is full, or its labels are too long")
	}
	return s, nil
}

// adjustments are the sums of what was booked in this run, as rows by series.
// They are no family, so that no limit makes one disappear: each is the
// program's own decision. Engine.mu guards them.
type adjustments struct {
	rows []snapshot.CounterRow
	at   map[string]int // in rows, by the text form of the series
}

func (a *adjustments) add(e *Engine, k series.Key, n int64) {
	series := k.String()
	i, ok := a.at[series]
	if !ok {
		if a.at == nil {
			a.at = make(map[string]int)
		}
		i = len(a.rows)
		a.at[series] = i
		row := e.sweep.health.keys.adjusted.Key(series)
		a.rows = append(a.rows, snapshot.CounterRow{Key: row, Created: e.started.UnixNano()})
	}
	a.rows[i].Value += n
}
