package window

import "sort"

// A knot is a point of a curve: what the source's total was at a moment of the
// sampler's axis.
type knot struct {
	at, total int64
}

// A curve is the source's total over time, as straight as the samples allow.
// A knot is kept only where the total begins or stops changing, so between two
// knots with equal totals nothing was added, and between two others is exactly
// one sampling interval. An idle source costs no knots, however long it idles.
//
// Knots are in a ring of at most limit slots; the oldest give way. They are in
// order of time, no two at the same.
type curve struct {
	knots []knot
	first int // the slot of the oldest, 0 until the ring is full
	limit int
}

func (c *curve) len() int { return len(c.knots) }

// slot returns where the i-th oldest knot is.
func (c *curve) slot(i int) *knot {
	i += c.first
	if i >= len(c.knots) {
		i -= len(c.knots)
	}
	return &c.knots[i]
}

func (c *curve) oldest() knot  { return *c.slot(0) }
func (c *curve) newest() *knot { return c.slot(len(c.knots) - 1) }

// push adds a knot that is newer than all others.
func (c *curve) push(k knot) {
	if len(c.knots) < c.limit {
		c.grow()
		c.knots = append(c.knots, k)
		return
	}
	c.knots[c.first] = k
	if c.first++; c.first == c.limit {
		c.first = 0
	}
}

// grow makes room for one knot more, doubling the memory but never past the
// limit.
func (c *curve) grow() {
	if len(c.knots) < cap(c.knots) {
		return
	}
	grown := make([]knot, len(c.knots), min(max(minKnots, 2*len(c.knots)), c.limit))
	copy(grown, c.knots)
	c.knots = grown
}

// minKnots is the least room a curve takes: one cache line of 64 bytes.
const minKnots = 4

// before returns the index of the newest knot that is not after t, or -1.
func (c *curve) before(t int64) int {
	return sort.Search(len(c.knots), func(i int) bool { return c.slot(i).at > t }) - 1
}
