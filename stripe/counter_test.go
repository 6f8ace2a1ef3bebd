package stripe

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layouts is every kind of counter; a property of one must hold for all.
var layouts = []struct {
	name string
	o    Options
}{
	{"adaptive", Options{}},
	{"one", Options{Stripes: 1}},
	{"perP", Options{Pick: PerP}},
	{"perGoroutine", Options{Stripes: 8, Pick: PerGoroutine}},
	{"random", Options{Stripes: 5, Pick: Random}},
}

func eachLayout(t *testing.T, f func(t *testing.T, c *Counter)) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			c, err := New(l.o)
			require.NoError(t, err)
			f(t, c)
		})
	}
}

func TestConservationAtRest(t *testing.T) {
	eachLayout(t, func(t *testing.T, c *Counter) {
		const writers, adds = 8, 20_000
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range adds {
					c.Add(int64(i - w))
				}
			})
		}
		wg.Wait()
		var want int64
		for w := range writers {
			for i := range adds {
				want += int64(i - w)
			}
		}
		assert.Equal(t, want, c.Value())
		assert.Equal(t, want, c.Drain())
		assert.Zero(t, c.Value())
	})
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{{Stripes: -1}, {Stripes: MaxStripes + 1}} {
		_, err := New(o)
		require.ErrorIs(t, err, ErrStripes)
	}
	_, err := New(Options{Pick: Random + 1})
	require.ErrorIs(t, err, ErrPick)
}

func TestRounding(t *testing.T) {
	for in, want := range map[int]int{1: 1, 2: 2, 3: 4, 5: 8, 64: 64, 65: 128, MaxStripes: MaxStripes} {
		c, err := New(Options{Stripes: in})
		require.NoError(t, err)
		assert.Len(t, c.Stats().Stripes, want)
	}
	c, err := New(Options{Pick: PerP})
	require.NoError(t, err)
	n, p := len(c.Stats().Stripes), runtime.GOMAXPROCS(0)
	assert.True(t, p <= n && n < 2*p, "%d stripes for %d Ps", n, p)
}
