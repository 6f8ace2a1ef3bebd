package stripe

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The lag stays below the limit after every add, and nothing is lost.
func TestLocalLagIsBounded(t *testing.T) {
	for _, limit := range []int64{math.MinInt64, 0, 1, 2, 1000, math.MaxInt64} {
		var (
			c    Counter
			l    = c.Local(limit)
			want int64
		)
		for range 10_000 {
			n := rand.Int64N(200) - 90
			l.Add(n)
			want += n
			lag := want - c.Value()
			assert.Equal(t, lag, l.Pending())
			if lag < 0 {
				lag = -lag
			}
			assert.Less(t, lag, max(limit, 1))
		}
		l.Flush()
		assert.Equal(t, want, c.Value())
		assert.Zero(t, l.Pending())
		l.Flush()
		assert.Equal(t, want, c.Value())
	}
}

// Adds near the ends of int64 wrap, in the handle as in the counter.
func TestLocalWraps(t *testing.T) {
	for _, limit := range []int64{1, 1000, math.MaxInt64} {
		var (
			c    Counter
			l    = c.Local(limit)
			want int64
		)
		for _, n := range []int64{math.MaxInt64, 1, math.MinInt64, -1, math.MinInt64, 5, math.MaxInt64 - 1, 17} {
			l.Add(n)
			want += n
			assert.Equal(t, want, c.Value()+l.Pending())
		}
		l.Flush()
		assert.Equal(t, want, c.Value())
	}
}
