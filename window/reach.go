package window

import (
	"strings"
	"time"
)

// Reach returns how far back the rung remembers.
func (r Rung) Reach() time.Duration { return r.Resolution * time.Duration(r.Buckets) }

// Label returns the reach as people write it, such as 1m, 24h or 1m30s: a label
// for what Last(r.Reach()) returns.
func (r Rung) Label() string {
	s := r.Reach().String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Rungs returns the rungs of the ring, the finest first.
func (w *Ring) Rungs() []Rung {
	rungs := make([]Rung, len(w.rungs))
	for i := range w.rungs {
		g := &w.rungs[i] // these fields never change
		rungs[i] = Rung{time.Duration(g.resolution), g.limit - 1}
	}
	return rungs
}

// Rung returns the width and the number of the buckets.
func (e *Events) Rung() Rung { return Rung{time.Duration(e.resolution), len(e.slots)} }

// Rung returns the width of the buckets, and how many closed ones are kept.
func (u *Uniques) Rung() Rung { return Rung{time.Duration(u.r.resolution), u.r.limit} }
