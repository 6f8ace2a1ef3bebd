package window

import (
	"math"
	"sort"
	"time"
)

// A timeline labels moments of the axis with the wall time that the clock
// showed then. A label never changes once it was given, so the bucket of a
// moment is its label rounded down, whenever that is asked. It is a small
// value; a copy stays valid.
//
// The clock's own drift is followed in steps of labelTolerance.
type timeline struct {
	marks []mark // oldest first, at least one; elements never change
}

// A mark is a moment from which on labels have another distance from the axis:
// somebody set the wall clock, the machine was suspended, or the clocks have
// drifted apart. The first two look the same from here and are jumps.
type mark struct {
	at     int64 // on the axis
	offset int64 // wall minus axis, from here on
	jumped int64 // how far the wall clock jumped, in either direction
}

const (
	// stepThreshold is the least difference that is taken for a step: ntpd
	// slews offsets below 128 ms and steps larger ones (its STEPT constant).
	stepThreshold = int64(128 * time.Millisecond)
	// slewShift bounds what slewing adds while nobody looks: Linux slews by
	// at most 500 parts per million, so 1/1024 is beyond what it can do.
	slewShift = 10
	// labelTolerance is how far labels may be from the wall clock before they
	// follow it: a tenth of what ntpd leaves uncorrected.
	labelTolerance = int64(10 * time.Millisecond)
	// maxMarks is how many marks a timeline remembers. Clocks that drift by 100
	// parts per million make one in 100 s, so these are a day. Time before the
	// oldest is labelled as if the next older had not happened.
	maxMarks = 1024
)

func newTimeline(wall, at int64) timeline {
	return timeline{[]mark{{at: math.MinInt64, offset: wall - at}}}
}

// observe takes in a reading of both clocks, since elapsed ns after the last,
// and reports whether the wall clock jumped.
func (tl *timeline) observe(wall, at, since int64) (jumped bool) {
	m := mark{at: at, offset: wall - at}
	by := m.offset - tl.marks[len(tl.marks)-1].offset
	by = max(by, -by)
	if by <= labelTolerance {
		return false
	}
	if jumped = by > stepThreshold+since>>slewShift; jumped {
		m.jumped = by
	}
	if len(tl.marks) == maxMarks {
		tl.marks = tl.marks[1:]
	}
	tl.marks = append(tl.marks, m)
	return jumped
}

// wall returns what the wall clock showed at t, in Unix nanoseconds.
func (tl timeline) wall(t int64) int64 {
	i := sort.Search(len(tl.marks), func(i int) bool { return tl.marks[i].at > t })
	return t + tl.marks[max(0, i-1)].offset
}

// jumped returns how far the wall clock jumped after from and until to, in
// whichever directions.
func (tl timeline) jumped(from, to int64) (sum int64) {
	for _, m := range tl.marks {
		if from < m.at && m.at <= to {
			sum += m.jumped
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
