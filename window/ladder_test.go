package window

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cell is a bucket of a rung.
type cell struct {
	resolution time.Duration
	start      int64
}

// cells sums rows by their buckets.
func cells(rows []Row) map[cell]int64 {
	sums := map[cell]int64{}
	for _, r := range rows {
		if r.Count != 0 {
			sums[cell{r.Resolution, r.Bucket()}] += r.Count
		}
	}
	return sums
}

// coarsen adds the cells of the finest rung up to the others.
func coarsen(sums map[cell]int64, ladder []Rung) map[cell]int64 {
	want := map[cell]int64{}
	for c, n := range sums {
		for _, r := range ladder {
			if c.resolution == ladder[0].Resolution {
				want[cell{r.Resolution, bucketOf(c.start, int64(r.Resolution))}] += n
			}
		}
	}
	return want
}

var (
	secondsToMinutes = []Rung{{time.Second, 200}, {10 * time.Second, 100}, {time.Minute, 100}}
	toQuarters       = []Rung{{500 * time.Millisecond, 7000}, {30 * time.Second, 200}, {15 * time.Minute, 12}}
)

func laddered(s *Sampler, ladder []Rung) Options {
	return Options{Resolution: ladder[0].Resolution, Buckets: ladder[0].Buckets, Coarser: ladder[1:], Sampler: s}
}

// TestBucketsFromEveryOffset starts a ring at every offset of its coarser
// buckets. From the first boundary on, every bucket holds what was added in it.
func TestBucketsFromEveryOffset(t *testing.T) {
	for offset := time.Duration(1); offset < time.Minute; offset += 300 * time.Millisecond {
		bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
			pass(offset)
			o := new(oracle)
			w := newRing(t, o, laddered(s, secondsToMinutes))
			truth := map[cell]int64{}
			for range 1200 {
				o.add(1)
				for _, r := range secondsToMinutes {
					truth[cell{r.Resolution, time.Now().Truncate(r.Resolution).UnixNano()}]++
				}
				pass(100 * time.Millisecond)
			}
			require.Equal(t, truth, cells(w.AppendRows(nil)), "began %v into a minute", offset)
			first := w.BucketsOf(10 * time.Second)[0]
			require.Equal(t, 10*time.Second-offset%(10*time.Second), first.Covered)
		})
	}
}

// TestCoarseBucketsAreSumsOfFineOnes steps, stalls and slews the clocks. Each
// coarse bucket is the sum of the finest ones in it.
func TestCoarseBucketsAreSumsOfFineOnes(t *testing.T) {
	for seed := range uint64(60) {
		bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
			rng := rand.New(rand.NewPCG(seed, 9))
			ladder := [][]Rung{secondsToMinutes, toQuarters}[seed%2]
			pass(24*time.Hour + time.Duration(rng.Int64N(int64(time.Hour))))
			o := new(oracle)
			w := newRing(t, o, laddered(s, ladder))
			for range 300 {
				o.add(1 + rng.Int64N(9))
				pass(time.Duration(rng.Int64N(int64(700 * time.Millisecond))))
				switch rng.IntN(60) {
				case 0:
					c.set(time.Duration(rng.NormFloat64() * float64(20*time.Second)))
				case 1:
					c.stall(time.Duration(rng.Int64N(int64(20 * time.Second))))
				case 2:
					c.set(time.Duration(rng.Int64N(int64(20*time.Millisecond))) - 10*time.Millisecond)
				}
			}
			sums := cells(w.AppendRows(nil))
			require.NotEmpty(t, sums)
			require.Equal(t, coarsen(sums, ladder), sums)
		})
	}
}

// TestLabelsStay asks for the labels of old moments again and again, while the
// wall clock drifts, is set and stands still.
func TestLabelsStay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	line := newTimeline(1_000_000, 0)
	at, wall, seen := int64(0), int64(1_000_000), int64(0)
	given := map[int64]int64{}
	for range maxMarks {
		step := rng.Int64N(int64(time.Minute))
		at, wall = at+step, wall+step+rng.Int64N(1000)*int64(time.Microsecond)-step/2000
		if rng.IntN(20) == 0 {
			wall += int64(rng.NormFloat64() * float64(time.Hour))
		}
		line.observe(wall, at, at-seen)
		seen = at
		given[at] = line.wall(at)
		require.InDelta(t, wall, given[at], float64(labelTolerance))
	}
	for at, label := range given {
		require.Equal(t, label, line.wall(at))
	}
}
