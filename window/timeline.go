package window

import "time"

// A jump is a moment at which the wall clock was found to have moved by a
// different amount than the elapsed clock: somebody set it, or the machine was
// suspended. The two look the same from here.
type jump struct {
	at int64 // on the axis
	by int64 // wall minus elapsed, so suspends are positive
}

// A timeline labels moments of the axis with the wall time that the clock
// showed then. It is a small value; a copy stays valid.
type timeline struct {
	offset int64  // wall minus axis, now
	jumps  []jump // oldest first; elements never change
}

const (
	// stepThreshold is the least difference that is taken for a step: ntpd
	// slews offsets below 128 ms and steps larger ones (its STEPT constant).
	stepThreshold = int64(128 * time.Millisecond)
	// slewShift bounds what slewing adds while nobody looks: Linux slews by
	// at most 500 parts per million, so 1/1024 is beyond what it can do.
	slewShift = 10
	// maxJumps is how many jumps a timeline remembers. Time before the oldest
	// one is labelled as if the next older had not happened.
	maxJumps = 64
)

// observe takes in a reading of both clocks, since elapsed ns after the last,
// and reports whether the wall clock jumped. Slower differences are drift: the
// labels follow the wall clock.
func (tl *timeline) observe(wall, at, since int64) bool {
	by := wall - at - tl.offset
	tl.offset += by
	if max(by, -by) <= stepThreshold+since>>slewShift {
		return false
	}
	if len(tl.jumps) == maxJumps {
		tl.jumps = tl.jumps[1:]
	}
	tl.jumps = append(tl.jumps, jump{at, by})
	return true
}

// wall returns what the wall clock showed at t.
func (tl timeline) wall(t int64) time.Time {
	ns := t + tl.offset
	for i := len(tl.jumps) - 1; i >= 0 && tl.jumps[i].at > t; i-- {
		ns -= tl.jumps[i].by
	}
	return time.Unix(0, ns)
}

// jumped returns how far the wall clock jumped after from and until to, in
// whichever directions.
func (tl timeline) jumped(from, to int64) (sum int64) {
	for _, j := range tl.jumps {
		if from < j.at && j.at <= to {
			sum += max(j.by, -j.by)
		}
	}
	return sum
}

// A stretch is some time on the axis. Windows list as stretches their outages:
// when they did not watch because the process was down. An outage is all there
// is to a restart: on the axis, restored buckets lie before the moment the
// sampler began.
type stretch struct {
	from, to int64
}

// span returns what a window can say about count things between from and to.
func (tl timeline) span(count, from, to int64, outages []stretch) Span {
	var out int64
	for _, o := range outages {
		out += max(0, min(o.to, to)-max(o.from, from))
	}
	return Span{
		Count:   count,
		Covered: time.Duration(to - from - out),
		Gap:     time.Duration(out + tl.jumped(from, to)),
	}
}
