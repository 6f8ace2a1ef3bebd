package stripe

// Stats describes how a counter is laid out and how evenly it is written.
type Stats struct {
	// Hot says whether the counter has stripes.
	Hot bool
	// Cold is the sum of the adds that went to the single word of the cold
	// counter, since the last Drain.
	Cold int64
	// Stripes holds the sum in each stripe since the last Drain; it is empty
	// while the counter is cold.
	Stripes []int64
	// Skew is the largest of Stripes divided by their mean: 1 when all are
	// equal, len(Stripes) when one takes all. It is 0 when there is nothing to
	// compare: no stripes, or a sum that is not positive.
	Skew float64
}

// Stats returns the counter's layout and its cells, read one after the other
// like Value does. It allocates.
func (c *Counter) Stats() Stats {
	s := Stats{Cold: c.base.Load()}
	t := c.hot.Load()
	if t == nil {
		return s
	}
	s.Hot = true
	s.Stripes = make([]int64, len(t.cells))
	var sum, top float64
	for i := range t.cells {
		s.Stripes[i] = t.cells[i].n.Load()
		sum += float64(s.Stripes[i])
		top = max(top, float64(s.Stripes[i]))
	}
	if sum > 0 {
		s.Skew = top / (sum / float64(len(s.Stripes)))
	}
	return s
}
