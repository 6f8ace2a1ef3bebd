package live

import (
	"maps"
	"math"
	"time"

	"github.com/hotcount/hotcount"
)

// smoothing is the time constant of the rates. It is long enough that rows do
// not jump about and short enough that a burst shows.
const smoothing = 3 * time.Second

// rates remembers the counts of one view, to tell how fast those of the next
// have grown.
type rates struct {
	last  time.Time // when the last view was taken, zero before the first
	round uint32
	seen  map[*hotcount.Counter]reading

	// Of each counter in the last view, in its order, and of all together.
	perSecond []float64
	all       float64
}

// A reading is what is known of a counter.
type reading struct {
	created, run int64
	rate         float64
	round        uint32 // when it was last seen
}

// known reports whether there are rates: it takes two views.
func (r *rates) known() bool { return r.round > 1 }

// update takes note of a view.
func (r *rates) update(v *hotcount.View) {
	if r.seen == nil {
		r.seen = make(map[*hotcount.Counter]reading, len(v.Counters))
	}
	took := v.Taken.Sub(r.last).Seconds()
	r.last = v.Taken
	r.round++
	keep := math.Exp(-took / smoothing.Seconds())
	r.perSecond, r.all = r.perSecond[:0], 0
	for i := range v.Counters {
		c := &v.Counters[i]
		now := reading{created: c.Created.UnixNano(), run: c.Run, round: r.round}
		before, ok := r.seen[c.Counter]
		if r.known() && took > 0 {
			now.rate = now.since(before, ok, took, keep)
		}
		r.seen[c.Counter] = now
		r.perSecond = append(r.perSecond, now.rate)
		r.all += now.rate
	}
	if len(r.seen) > len(v.Counters) {
		maps.DeleteFunc(r.seen, func(_ *hotcount.Counter, last reading) bool { return last.round != r.round })
	}
}

// since returns the rate of a counter, given its reading some seconds before. A
// counter that is new, or began again, has counted all its run since.
func (now reading) since(before reading, ok bool, seconds, keep float64) float64 {
	if !ok || before.created != now.created {
		before.run = 0
	}
	rate := float64(now.run-before.run) / seconds
	if before.round < 2 { // it had no rate yet
		return rate
	}
	return before.rate*keep + rate*(1-keep)
}
