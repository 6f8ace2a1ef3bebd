package stripe

// Monotone is a Counter that only goes up: a count of things that happened. It
// refuses negative adds and cannot be drained, so the values one reader sees
// never decrease, until the count wraps past math.MaxInt64. The zero Monotone
// is zero and ready. It must not be copied after first use.
//
// Its methods may be called from any goroutine. An Add synchronizes before any
// Value that includes it.
type Monotone struct {
	c Counter
}

// Inc adds 1.
func (m *Monotone) Inc() {
	m.c.Add(1)
}

// Add adds n and returns true. If n is negative it changes nothing and returns
// false.
func (m *Monotone) Add(n int64) bool {
	if n < 0 {
		return false
	}
	m.c.Add(n)
	return true
}

// Value returns the sum of all adds. It reads as [Counter.Value] does.
func (m *Monotone) Value() int64 {
	return m.c.Value()
}

// Stats describes the counter, as [Counter.Stats] does.
func (m *Monotone) Stats() Stats {
	return m.c.Stats()
}
