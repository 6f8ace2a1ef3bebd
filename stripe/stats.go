package stripe

// Stats describes how a counter is laid out and how evenly it is written.
type Stats struct {
	// Hot says whether the counter has stripes.
	Hot bool
	// Cold is the sum of the adds since the last Drain that were made while
	// the counter was cold.
	Cold int64
	// Stripes holds the sum in each stripe since the last Drain. It is empty
	// while the counter is cold.
	Stripes []int64
	// Skew is the largest of Stripes divided by their mean: 1 when all are
	// equal, len(Stripes) when one takes all. It is 0 when there is nothing to
	// compare: no stripes, or a sum that is not positive.
	Skew float64
}

// Stats returns the counter's layout and its cells, read one after the other
// as Value reads them. It allocates.
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
		v := t.cells[i].n.Load()
		s.Stripes[i] = v
		sum += float64(v)
		top = max(top, float64(v))
	}
	if sum > 0 {
		s.Skew = top / (sum / float64(len(t.cells)))
	}
	return s
}
