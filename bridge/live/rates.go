package live

import (
	"maps"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/unit"
)

// A rate is the mean over the time since an anchor, a view some seconds ago. Two
// anchors take turns: when the newer is anchorAge old, it becomes the older one.
// So a burst is forgotten after twice that, and rows do not jump at every view.
const anchorAge = 2 * time.Second

// rates remembers the counts of past views, to tell how fast those of the next
// have grown.
type rates struct {
	round        uint32
	older, newer time.Time // anchors
	seen         map[*hotcount.Counter]reading

	// Of each counter in the last view, in its order, and of all together that
	// count events.
	perSecond []float64
	all       float64
}

// A reading is what is known of a counter. One that was not there at an anchor,
// or has begun again since, had counted nothing then.
type reading struct {
	created      int64
	older, newer int64  // its Run at the anchors
	round        uint32 // when it was last seen
}

// known reports whether there are rates: it takes two views.
func (r *rates) known() bool { return r.round > 1 }

// update takes note of a view.
func (r *rates) update(v *hotcount.View) {
	r.round++
	if r.round == 1 {
		r.older, r.newer = v.Taken, v.Taken
		r.seen = make(map[*hotcount.Counter]reading, len(v.Counters))
	}
	seconds := v.Taken.Sub(r.older).Seconds()
	turn := v.Taken.Sub(r.newer) >= anchorAge
	r.perSecond, r.all = r.perSecond[:0], 0
	for i := range v.Counters {
		c := &v.Counters[i]
		now, created := r.seen[c.Counter], c.Created.UnixNano()
		switch {
		case r.round == 1:
			now = reading{created: created, older: c.Run, newer: c.Run}
		case now.created != created:
			now = reading{created: created}
		}
		rate := 0.0
		if seconds > 0 {
			rate = float64(c.Run-now.older) / seconds
		}
		if turn {
			now.older, now.newer = now.newer, c.Run
		}
		now.round = r.round
		r.seen[c.Counter] = now
		r.perSecond = append(r.perSecond, rate)
		if !unit.IsAmount(c.Key().Name()) {
			r.all += rate
		}
	}
	if turn {
		r.older, r.newer = r.newer, v.Taken
	}
	if len(r.seen) > len(v.Counters) {
		maps.DeleteFunc(r.seen, func(_ *hotcount.Counter, last reading) bool { return last.round != r.round })
	}
}
