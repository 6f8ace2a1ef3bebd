package window

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A slowSource takes a while to read, once.
type slowSource struct {
	oracle
	took atomic.Int64 // nanoseconds
}

func (s *slowSource) Value() int64 {
	time.Sleep(time.Duration(s.took.Swap(0))) // in the bubble
	return s.oracle.Value()
}

// TestMissedTicks holds the sampler up for 49 ticks, as a garbage collection
// or a slow source might, with windows on the same sampler that know nothing of
// it.
func TestMissedTicks(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		busy, idle, slow := new(oracle), new(oracle), new(slowSource)
		// Sweeps begin at the last seat, so the slow source holds up the next tick.
		wSlow := newRing(t, slow, oneByOne(s, time.Second, 100))
		wBusy := newRing(t, busy, oneByOne(s, time.Second, 100))
		wIdle := newRing(t, idle, oneByOne(s, time.Second, 100))
		for range 10 {
			busy.add(1)
			pass(time.Second)
		}
		before := s.Stats()
		slow.took.Store(int64(50*time.Second + time.Millisecond))
		for range 60 {
			busy.add(1)
			slow.add(1)
			pass(time.Second)
		}
		st := s.Stats()
		assert.Equal(t, uint64(49), st.Missed-before.Missed)
		assert.Equal(t, uint64(60-49), st.Ticks-before.Ticks, "a late tick is not made up for")
		assert.Equal(t, 49*time.Second+time.Millisecond, st.MaxLag)
		assert.Equal(t, 50*time.Second+time.Millisecond, st.Busy)
		assert.Zero(t, st.Jumps)

		longest := time.Duration(0)
		for _, b := range wBusy.Buckets() {
			longest = max(longest, b.Covered)
			assert.Equal(t, busy.between(b.Start.Add(-1), b.Start.Add(b.Covered-1)), b.Count)
		}
		assert.Equal(t, 50*time.Second+time.Millisecond, longest, "the late tick stretches a bucket")
		assert.Equal(t, wSlow.Stats().Added, sum(wSlow.Buckets()))
		span := wBusy.Last(30 * time.Second)
		assert.Equal(t, busy.between(time.Now().Add(-span.Covered-1), time.Now()), span.Count)
		assert.Len(t, wIdle.Buckets(), 71, "nothing was added, so nothing is uncertain")
	})
}

// A busySource takes up to seconds to read, and is added to before, during and
// after the moment that its value is of.
type busySource struct {
	clock *testClock
	rng   *rand.Rand
	total int64
	adds  history
}

func (b *busySource) Value() int64 {
	b.work()
	v := b.total
	b.work()
	return v
}

func (b *busySource) work() {
	for range b.rng.IntN(10) {
		b.clock.stall(time.Duration(b.rng.Int64N(int64(100 * time.Millisecond))))
		now, _ := b.clock.read()
		b.total++
		b.adds = append(b.adds, knot{now.UnixNano(), b.total})
	}
}

// TestNeverMoreThanAdded reads a window of a source that is slow to read and
// busy meanwhile, for the sampler and for readers. No span holds more than was
// added in it.
func TestNeverMoreThanAdded(t *testing.T) {
	for seed := range uint64(10) {
		bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
			rng := rand.New(rand.NewPCG(seed, 7))
			b := &busySource{clock: c, rng: rand.New(rand.NewPCG(seed, 8))}
			w := newRing(t, b, oneByOne(s, time.Second, 20))
			var spans []Span
			var ends []time.Time
			for range 500 {
				pass(time.Duration(rng.Int64N(int64(2 * time.Second))))
				spans = append(spans, w.Last(time.Duration(rng.Int64N(int64(10*time.Second)))))
				now, _ := c.read()
				ends = append(ends, now)
			}
			s.Close()
			require.Zero(t, s.Stats().Jumps)
			for i, span := range spans {
				require.LessOrEqual(t, span.Count, b.adds.between(ends[i].Add(-span.Covered-1), ends[i]))
				require.GreaterOrEqual(t, span.Count, int64(0))
			}
		})
	}
}

// TestLongStall lets 30 days pass in which no goroutine ran.
func TestLongStall(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		o.add(3)
		pass(2 * time.Second)
		before := s.Stats()
		c.stall(30 * 24 * time.Hour)
		pass(time.Second)
		o.add(4)
		pass(2 * time.Second)
		st := s.Stats()
		assert.LessOrEqual(t, st.Ticks-before.Ticks, uint64(3))
		assert.InDelta(t, 30*24*3600, float64(st.Missed-before.Missed), 1)
		assert.Zero(t, st.Jumps, "both clocks agree")
		assert.Equal(t, int64(4), w.Last(time.Minute).Count)
		assert.Equal(t, int64(3), w.Stats().Evicted)
		assert.Equal(t, int64(7), w.Last(math.MaxInt64).Count)
	})
}

// TestWallClock sets the wall clock back and forward, and suspends. Spans and
// rates go by the elapsed clock, so they are right; labels and gaps say what
// happened.
func TestWallClock(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		happen func(*testClock)
		gap    time.Duration
	}{
		"back":         {func(c *testClock) { c.set(-3 * day) }, 3 * day},
		"back a bit":   {func(c *testClock) { c.set(-700 * time.Millisecond) }, 700 * time.Millisecond},
		"forward":      {func(c *testClock) { c.set(3 * day) }, 3 * day},
		"suspend":      {func(c *testClock) { c.suspend(8 * time.Hour) }, 8 * time.Hour},
		"slewed":       {func(c *testClock) { c.set(100 * time.Millisecond) }, 0},
		"back and out": {func(c *testClock) { c.set(-day); pass(2 * time.Second); c.set(day) }, 2 * day},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, clock *testClock, s *Sampler) {
				o := new(oracle)
				w := newRing(t, o, oneByOne(s, time.Second, 60))
				labelled := clockLabel(clock)
				for range 20 {
					pass(time.Second)
					o.add(1)
				}
				old := w.Buckets()
				c.happen(clock)
				for range 20 {
					pass(time.Second)
					o.add(1)
				}

				span := w.Last(time.Minute)
				assert.Equal(t, int64(40), span.Count)
				assert.Equal(t, time.Since(clock.start), span.Covered)
				assert.Equal(t, c.gap, span.Gap)
				assert.InDelta(t, 10, w.Last(10*time.Second).Count, 1)
				assert.Zero(t, w.Last(10*time.Second).Gap)
				assert.InDelta(t, 0.95, w.Rates().M1, 0.1)

				gap := time.Duration(0)
				for i, b := range w.Buckets() {
					assert.GreaterOrEqual(t, b.Count, int64(0))
					assert.True(t, b.Covered >= time.Second/2 || i == len(w.Buckets())-1, "bucket %d", i)
					assert.Less(t, b.Covered, 2*time.Second, "bucket %d: the wall clock may show a second twice", i)
					gap += b.Gap
					if i < 19 && c.gap != 0 {
						assert.True(t, b.Start.Equal(old[i].Start), "labels stay as the wall clock showed them")
					}
				}
				assert.Equal(t, c.gap, gap)
				live := w.Buckets()[len(w.Buckets())-1]
				assert.True(t, labelled().Equal(live.Start.Add(live.Covered)))
			})
		})
	}
}

// clockLabel returns what the wall clock shows.
func clockLabel(c *testClock) func() time.Time {
	return func() time.Time {
		now, _ := c.read()
		return now
	}
}

// TestFlappingClock steps the clock at every tick, for longer than jumps are
// remembered.
func TestFlappingClock(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 10*maxMarks))
		for i := range 4 * maxMarks {
			o.add(1)
			c.set(time.Duration(1-2*(i%2)) * time.Hour)
			pass(2 * time.Second)
		}
		assert.Equal(t, uint64(4*maxMarks), s.Stats().Jumps)
		assert.Equal(t, int64(4*maxMarks), sum(w.Buckets()))
		assert.Equal(t, maxMarks*time.Hour, w.Last(10*time.Hour).Gap)
	})
}

func TestPanickingSource(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		var fail atomic.Bool
		bad := new(oracle)
		wBad := newRing(t, SourceFunc(func() int64 {
			if fail.Load() {
				panic("source")
			}
			return bad.Value()
		}), oneByOne(s, time.Second, 60))
		good := new(oracle)
		wGood := newRing(t, good, oneByOne(s, time.Second, 60))
		pass(2 * time.Second)
		fail.Store(true)
		for range 10 {
			good.add(1)
			bad.add(1)
			pass(time.Second)
		}
		fail.Store(false)
		pass(10 * time.Second)
		assert.Equal(t, uint64(10), s.Stats().Panics)
		assert.Len(t, wGood.Buckets(), 23)
		assert.Equal(t, int64(10), wGood.Stats().Added)
		assert.Equal(t, int64(10), wBad.Stats().Added)
		assert.Equal(t, int64(10), sum(wBad.Buckets()), "the bucket is stretched, nothing is lost")
	})
}

// TestSeats makes and closes windows while sweeps run, and checks that every
// window that stays is sampled at every tick.
func TestSeats(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		const n = 3*sweepChunk + 17
		var rings [n]*Ring
		var reads [n]int
		for i := range rings {
			rings[i] = newRing(t, SourceFunc(func() int64 {
				reads[i]++
				if i%3 == 1 && reads[i] == 4 { // in mid-sweep
					go rings[i-1].Close()
					synctestYield()
				}
				return int64(reads[i])
			}), oneByOne(s, time.Second, 60))
		}
		pass(10*time.Second + time.Millisecond)
		for i := range rings {
			if i%3 != 0 {
				require.GreaterOrEqual(t, reads[i], 11, "ring %d", i)
				require.Len(t, rings[i].Buckets(), 11)
			}
		}
		assert.Equal(t, n-(n+2)/3, s.Stats().Windows)
		assert.Zero(t, s.Stats().Panics)
	})
}

// synctestYield lets the goroutines of the bubble run until they block.
func synctestYield() { time.Sleep(time.Nanosecond) }

// TestTracks checks that a resolution ticks as long as it has windows, and that
// ticks are multiples of it on the wall clock.
func TestTracks(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		pass(time.Hour + 300*time.Millisecond)
		assert.Zero(t, s.Stats().Ticks)
		a := newRing(t, new(oracle), oneByOne(s, time.Minute, 60))
		b := newRing(t, new(oracle), oneByOne(s, time.Minute, 60))
		pass(time.Hour)
		assert.Equal(t, uint64(60), s.Stats().Ticks)
		for _, bucket := range a.Buckets()[1:] {
			assert.Zero(t, bucket.Start.Second())
			assert.Zero(t, bucket.Start.Nanosecond())
		}
		a.Close()
		b.Close()
		pass(time.Hour)
		assert.Equal(t, uint64(60), s.Stats().Ticks)
		newRing(t, new(oracle), oneByOne(s, time.Minute, 60))
		pass(time.Hour)
		assert.Equal(t, uint64(120), s.Stats().Ticks)
	})
}

// TestSlewedTicks slews the wall clock back, so that each tick comes before its
// time on it. It must not come again then.
func TestSlewedTicks(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		w := newRing(t, new(oracle), oneByOne(s, time.Second, 60))
		for range 10 {
			c.set(-time.Millisecond)
			pass(time.Second + time.Millisecond)
		}
		assert.Equal(t, uint64(10), s.Stats().Ticks)
		assert.Len(t, w.Buckets(), 11)
		assert.Zero(t, s.Stats().Jumps)
	})
}

// TestSystemClock runs without a testClock.
func TestSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSampler(SamplerOptions{})
		defer s.Close()
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		o.add(2)
		pass(10 * time.Second)
		assert.Equal(t, Span{Count: 2, Covered: 10 * time.Second}, w.Last(time.Minute))
		assert.True(t, time.Now().Equal(w.Buckets()[10].Start))
	})
}

// A reader's panic, which a server recovers from, must not leave a lock behind:
// the sampler would stand still in front of it, and Close wait for ever.
func TestPanickingSourceLeavesNoLock(t *testing.T) {
	reads := map[string]func(w *Ring){
		"Last":       func(w *Ring) { w.Last(time.Minute) },
		"Buckets":    func(w *Ring) { w.Buckets() },
		"Stats":      func(w *Ring) { w.Stats() },
		"AppendRows": func(w *Ring) { w.AppendRows(nil) },
		"Restore":    func(w *Ring) { _ = w.Restore(nil) },
		"Close":      func(w *Ring) { w.Close() },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
				var fail atomic.Bool
				src := new(oracle)
				w := newRing(t, SourceFunc(func() int64 {
					if fail.Load() {
						panic("source")
					}
					return src.Value()
				}), oneByOne(s, time.Second, 60))
				fail.Store(true)
				assert.Panics(t, func() { read(w) })
				fail.Store(false)
				src.add(1)
				pass(2 * time.Second)
				assert.Equal(t, int64(1), w.Last(time.Minute).Count)
			})
		})
	}
}
