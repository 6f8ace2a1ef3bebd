package window

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
)

// values remembers what was observed when.
type values []knot // at is Unix time, total the value

func (v *values) add(n int64) { *v = append(*v, knot{time.Now().UnixNano(), n}) }

func (v values) since(t time.Time) (in []int64) {
	for _, k := range v {
		if k.at > t.UnixNano() {
			in = append(in, k.total)
		}
	}
	return in
}

// TestRotorsOracle compares all windows that rotate with the list of what was
// added.
func TestRotorsOracle(t *testing.T) {
	for seed := range uint64(10) {
		bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
			rng := rand.New(rand.NewPCG(seed, 4))
			top, err := NewMax(oneByOne(s, time.Second, 10))
			require.NoError(t, err)
			defer top.Close()
			low, err := NewMin(oneByOne(s, time.Second, 10))
			require.NoError(t, err)
			defer low.Close()
			u, err := NewUniques(UniquesOptions{Resolution: time.Second, Buckets: 10, Sampler: s})
			require.NoError(t, err)
			defer u.Close()

			var seen values
			began := time.Now()
			for range 300 {
				pass(2*time.Duration(rng.Int64N(int64(pause(rng)/2))) + 1 - time.Duration(time.Now().UnixNano()%2))
				for range rng.IntN(4) {
					n := rng.Int64N(200) - 100
					seen.add(n)
					top.Observe(n)
					low.Observe(n)
					u.AddString(strconv.FormatInt(n, 10))
				}
				d := pause(rng)
				e := top.Last(d)
				in := seen.since(time.Now().Add(-e.Covered))
				checkExtremes(t, in, e, low.Last(d))
				require.Equal(t, distinct(in), u.Last(d).Count)
				require.GreaterOrEqual(t, e.Covered, min(d, time.Since(began), 10*time.Second))
				require.LessOrEqual(t, e.Covered, d+3*time.Second/2)
				require.Equal(t, e.Covered, u.Last(d).Covered)
			}
		})
	}
}

func checkExtremes(t *testing.T, in []int64, top, low Extreme) {
	t.Helper()
	require.Equal(t, len(in) > 0, top.OK)
	require.Equal(t, len(in) > 0, low.OK)
	if len(in) == 0 {
		require.Zero(t, top.Value)
		require.Zero(t, low.Value)
		return
	}
	highest, lowest := in[0], in[0]
	for _, n := range in {
		highest, lowest = max(highest, n), min(lowest, n)
	}
	require.Equal(t, highest, top.Value)
	require.Equal(t, lowest, low.Value)
}

func distinct(in []int64) uint64 {
	set := map[int64]bool{}
	for _, n := range in {
		set[n] = true
	}
	return uint64(len(set))
}

func TestExtremesOfInt64(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		top, err := NewMax(oneByOne(s, time.Second, 2))
		require.NoError(t, err)
		defer top.Close()
		low, err := NewMin(oneByOne(s, time.Second, 2))
		require.NoError(t, err)
		defer low.Close()
		for _, v := range []int64{math.MinInt64 + 1, 0, math.MaxInt64 - 1} {
			top.Observe(v)
			low.Observe(v)
			pass(time.Second)
			assert.Equal(t, Extreme{v, true, time.Second, 0}, top.Last(1))
			assert.Equal(t, Extreme{v, true, time.Second, 0}, low.Last(1))
			pass(time.Second)
			assert.Equal(t, Extreme{Covered: time.Second}, top.Last(time.Second), "the bucket ended a second ago")
			pass(time.Minute)
			assert.Equal(t, Extreme{Covered: time.Second}, top.Last(time.Second))
			assert.Equal(t, Extreme{Covered: time.Second}, low.Last(time.Second))
		}
	})
}

// TestRotorWallClock checks that steps and suspends lose nothing and are
// marked.
func TestRotorWallClock(t *testing.T) {
	for _, by := range []time.Duration{-72 * time.Hour, 72 * time.Hour} {
		bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
			u, err := NewUniques(UniquesOptions{Sampler: s})
			require.NoError(t, err)
			defer u.Close()
			for i := range 40 {
				if i == 20 {
					c.set(by)
				}
				pass(time.Minute)
				u.AddHash(rand.Uint64())
			}
			span := u.Last(time.Hour)
			assert.Equal(t, uint64(40), span.Count)
			assert.Equal(t, 40*time.Minute, span.Covered)
			assert.Equal(t, by.Abs(), span.Gap)
		})
	}
}

// held returns how many closed buckets the window has.
func held[T any](r *rotor[T]) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buckets)
}

// TestWindowsForget checks that idle windows let go of their sketches, and that
// windows that are not idle hold no more than their number.
func TestWindowsForget(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		u, err := NewUniques(UniquesOptions{Buckets: 5, Sampler: s})
		require.NoError(t, err)
		defer u.Close()
		empty := u.Size()
		for i := range 20_000 {
			u.AddHash(uint64(i) * 0x9e3779b97f4a7c15) // spread by the golden ratio
		}
		pass(3 * time.Minute)
		assert.Greater(t, u.Size(), 1<<hll.DefaultPrecision, "one large sketch")
		assert.Less(t, u.Size(), 2<<hll.DefaultPrecision, "and only one")
		assert.Equal(t, 1, held(&u.r))
		pass(4 * time.Minute)
		assert.Equal(t, empty, u.Size())
		assert.Equal(t, UniquesSpan{Covered: 5 * time.Minute}, u.Last(5*time.Minute))
		for i := range uint64(30) {
			u.AddHash(i << 50)
			pass(time.Minute)
		}
		assert.Less(t, u.Size(), 7*256, "small sketches stay small")
		assert.Equal(t, 5, held(&u.r))
	})
}

func TestRotorClose(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		u, err := NewUniques(UniquesOptions{Resolution: time.Second, Sampler: s})
		require.NoError(t, err)
		u.Add([]byte("a"))
		pass(1500 * time.Millisecond)
		u.Add([]byte("b"))
		u.Close()
		u.Close()
		pass(time.Hour)
		span := u.Last(time.Minute)
		assert.Equal(t, uint64(2), span.Count)
		assert.Equal(t, 1500*time.Millisecond, span.Covered)
		assert.Zero(t, s.Stats().Windows)
		assert.Equal(t, uint64(2), u.Sketch(time.Minute).Estimate().Count)
	})
}

func TestUniquesOptions(t *testing.T) {
	_, err := NewUniques(UniquesOptions{Buckets: -1})
	assert.ErrorIs(t, err, ErrOptions)
	_, err = NewUniques(UniquesOptions{Sketch: hll.Options{Precision: 99}})
	assert.ErrorIs(t, err, hll.ErrOptions)
}

// TestUniquesRestart stops a window for 20 minutes, as a restart does.
func TestUniquesRestart(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		pass(24 * time.Hour)
		o := UniquesOptions{Sampler: s}
		u, err := NewUniques(o)
		require.NoError(t, err)
		for i := range uint64(30) {
			if i%10 > 3 {
				u.AddHash(i << 50)
			}
			pass(time.Minute)
		}
		u.AddHash(1 << 63)
		pass(time.Second)
		before, rows := u.Last(time.Hour), u.AppendRows(nil)
		u.Close()
		require.ErrorIs(t, u.Restore(rows), ErrClosed)

		pass(20 * time.Minute)
		u, err = NewUniques(o)
		require.NoError(t, err)
		defer u.Close()
		u.AddHash(1<<63 + 1<<50)
		pass(5 * time.Second) // counts: the window is live
		require.NoError(t, u.Restore(rows))
		after := u.Last(time.Hour)
		assert.Equal(t, before.Count+1, after.Count)
		assert.Equal(t, before.Covered+5*time.Second, after.Covered)
		assert.Equal(t, 20*time.Minute, after.Gap)
		assert.Equal(t, rows, u.AppendRows(nil)[:len(rows)])

		pass(15 * time.Minute)
		after = u.Last(50 * time.Minute)
		assert.Equal(t, 20*time.Minute, after.Gap)
		assert.Equal(t, 30*time.Minute, after.Covered.Round(time.Minute))
		assert.Equal(t, uint64(5+6+1+1), after.Count, "half of the first run, and what is new")
	})
}

func TestUniquesRestoreRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		u, err := NewUniques(UniquesOptions{Sampler: s})
		require.NoError(t, err)
		defer u.Close()
		u.AddString("a")
		pass(time.Minute)
		u.AddString("b")

		encoded := func(o hll.Options) SketchRow {
			sk, err := hll.New(o)
			require.NoError(t, err)
			sk.AddString("c")
			b, err := sk.AppendBinary(nil)
			require.NoError(t, err)
			return SketchRow{Start: time.Now().Add(-time.Second).UnixNano(), Width: time.Second, Scheme: sk.Scheme(), Sketch: b}
		}
		cut := encoded(hll.Options{})
		cut.Sketch = cut.Sketch[:len(cut.Sketch)-1]
		for _, c := range []struct {
			row  SketchRow
			want error
		}{
			{SketchRow{Start: -1, Width: 1}, ErrRows},
			{SketchRow{Width: -1}, ErrRows},
			{cut, hll.ErrFormat},
			{encoded(hll.Options{Seed: 3}), hll.ErrScheme},
			{encoded(hll.Options{Hash: hll.Redis}), hll.ErrScheme},
			{encoded(hll.Options{Precision: 10}), hll.ErrPrecision},
		} {
			assert.ErrorIs(t, u.Restore([]SketchRow{encoded(hll.Options{}), c.row}), c.want)
		}
		assert.Equal(t, uint64(2), u.Last(time.Hour).Count)
		require.NoError(t, u.Restore([]SketchRow{encoded(hll.Options{Precision: 16})}))
		assert.Equal(t, uint64(2), u.Last(math.MaxInt64).Count, "b and c")
	})
}
