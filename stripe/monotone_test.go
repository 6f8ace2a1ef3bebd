package stripe

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMonotoneRefusesNegatives(t *testing.T) {
	var m Monotone
	m.Inc()
	assert.True(t, m.Add(4))
	assert.True(t, m.Add(0))
	for _, n := range []int64{-1, math.MinInt64} {
		assert.False(t, m.Add(n))
	}
	assert.EqualValues(t, 5, m.Value())
	assert.EqualValues(t, 5, m.Stats().Cold)
}

func TestMonotoneNeverGoesBack(t *testing.T) {
	const writers = 3
	var (
		m    Monotone
		last int64
	)
	during(ledgerFor(t), writers+1, func(i int) {
		if i < writers {
			m.Add(int64(i) - 1) // the first is refused each time
			return
		}
		v := m.Value()
		if v < last {
			t.Errorf("read %d after %d", v, last)
		}
		last = v
	})
}
