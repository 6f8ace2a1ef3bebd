package window

import (
	"math/rand/v2"
	"sort"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A testClock is the clock of a synctest bubble, whose wall clock can be set
// and whose elapsed time can leave the bubble's.
type testClock struct {
	start time.Time
	wall  atomic.Int64 // ahead of the bubble's wall clock
	ahead atomic.Int64 // of the bubble's elapsed time
	reads atomic.Int64
}

func newTestClock() *testClock { return &testClock{start: time.Now()} }

func (c *testClock) read() (time.Time, time.Duration) {
	c.reads.Add(1)
	now := time.Now()
	return now.Add(time.Duration(c.wall.Load())), now.Sub(c.start) + time.Duration(c.ahead.Load())
}

// set moves the wall clock.
func (c *testClock) set(by time.Duration) { c.wall.Add(int64(by)) }

// suspend makes wall time pass that neither timers nor the elapsed clock see.
func (c *testClock) suspend(d time.Duration) { c.wall.Add(int64(d)) }

// stall makes time pass during which nothing ran: no tick, no writer.
func (c *testClock) stall(d time.Duration) {
	c.wall.Add(int64(d))
	c.ahead.Add(int64(d))
}

// An oracle is a Source that remembers when every add was made.
type oracle struct {
	total atomic.Int64
	adds  history
}

func (o *oracle) Value() int64 { return o.total.Load() }

func (o *oracle) add(n int64) {
	o.adds = append(o.adds, knot{time.Now().UnixNano(), o.total.Add(n)})
}

// between returns what was added in from < t <= to.
func (o *oracle) between(from, to time.Time) int64 { return o.adds.between(from, to) }

// A history is the total after each add, and when that was in Unix time.
type history []knot

func (h history) between(from, to time.Time) int64 { return h.until(to) - h.until(from) }

func (h history) until(t time.Time) int64 {
	i := sort.Search(len(h), func(i int) bool { return h[i].at > t.UnixNano() })
	if i == 0 {
		return 0
	}
	return h[i-1].total
}

// bubble runs f in a synctest bubble with a sampler on a testClock.
func bubble(t *testing.T, f func(t *testing.T, c *testClock, s *Sampler)) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestClock()
		s := NewSampler(SamplerOptions{Clock: c.read})
		defer s.Close()
		f(t, c, s)
	})
}

// pass lets time pass in the bubble, until all that it starts is done.
func pass(d time.Duration) {
	time.Sleep(d) // the bubble's time, which takes none
	synctest.Wait()
}

func newRing(t *testing.T, src Source, o Options) *Ring {
	t.Helper()
	w, err := New(src, o)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

func sum(buckets []Bucket) (n int64) {
	for _, b := range buckets {
		n += b.Count
	}
	return n
}

// oneByOne is a ring without coarser rungs.
func oneByOne(s *Sampler, resolution time.Duration, buckets int) Options {
	return Options{Resolution: resolution, Buckets: buckets, Sampler: s}
}

// TestRingOracle adds at random times and compares all that a ring says with
// the list of adds. Times have odd nanoseconds and ticks do not, so that no add
// is at a bucket's edge.
func TestRingOracle(t *testing.T) {
	for seed := range uint64(8) {
		bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
			rng := rand.New(rand.NewPCG(seed, 1))
			o := new(oracle)
			w := newRing(t, o, Options{
				Resolution: time.Second, Buckets: 10, Sampler: s,
				Coarser: []Rung{{10 * time.Second, 12}, {time.Minute, 20}},
			})
			began := time.Now()
			for range 300 {
				pass(2*time.Duration(rng.Int64N(int64(pause(rng)/2))) + 1 - time.Duration(time.Now().UnixNano()%2))
				if rng.IntN(3) > 0 {
					o.add(rng.Int64N(100) - 10)
				}
				checkLast(t, w, o, began, pause(rng))
				for _, r := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
					checkBuckets(t, w.BucketsOf(r), r, o)
				}
				st := w.Stats()
				require.Equal(t, o.Value(), st.Added)
				require.Equal(t, o.Value(), st.Evicted+sum(w.Buckets()))
			}
		})
	}
}

// pause draws a time that is often short and sometimes minutes.
func pause(rng *rand.Rand) time.Duration {
	return time.Duration(1+rng.IntN(1000)) * []time.Duration{time.Millisecond, time.Millisecond, 10 * time.Millisecond, 300 * time.Millisecond}[rng.IntN(4)]
}

func checkLast(t *testing.T, w *Ring, o *oracle, began time.Time, d time.Duration) {
	t.Helper()
	now := time.Now()
	span := w.Last(d)
	require.Zero(t, span.Gap)
	require.Equal(t, o.between(now.Add(-span.Covered), now), span.Count, "last %v covered %v", d, span.Covered)
	reach := min(d, now.Sub(began), 10*time.Second)
	require.GreaterOrEqual(t, span.Covered, reach)
	switch {
	case d <= 9*time.Second:
		require.LessOrEqual(t, span.Covered, d+time.Second)
	case d <= 100*time.Second:
		require.LessOrEqual(t, span.Covered, d+10*time.Second)
	default:
		require.LessOrEqual(t, span.Covered, d+time.Minute)
	}
}

func checkBuckets(t *testing.T, buckets []Bucket, resolution time.Duration, o *oracle) {
	t.Helper()
	require.NotEmpty(t, buckets)
	for i, b := range buckets {
		end := b.Start.Add(b.Covered)
		require.Equal(t, o.between(b.Start, end), b.Count, "bucket %d", i)
		require.LessOrEqual(t, b.Covered, resolution)
		if i < len(buckets)-1 {
			require.True(t, end.Equal(buckets[i+1].Start))
		}
		if i > 0 { // the first may begin in mid-bucket
			require.Zero(t, b.Start.UnixNano()%int64(resolution))
		}
	}
	require.True(t, time.Now().Equal(buckets[len(buckets)-1].Start.Add(buckets[len(buckets)-1].Covered)))
}

func TestDefaultLadder(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, Options{Sampler: s})
		for range 25 * 60 {
			o.add(1)
			pass(time.Minute)
		}
		o.add(1)
		pass(1)
		for d, width := range map[time.Duration]time.Duration{
			time.Minute: time.Second, time.Hour: time.Minute, 24 * time.Hour: 15 * time.Minute,
		} {
			span := w.Last(d)
			assert.GreaterOrEqual(t, span.Covered, d)
			assert.LessOrEqual(t, span.Covered, d+width)
			assert.Equal(t, o.between(time.Now().Add(-span.Covered-1), time.Now()), span.Count)
		}
		assert.LessOrEqual(t, w.Stats().Bytes, 4096)
		assert.Nil(t, w.BucketsOf(time.Hour))
	})
}

func TestIdleRingStaysSmall(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 3600))
		o.add(5)
		pass(3 * time.Hour)
		assert.Less(t, w.Stats().Bytes, 512)
		assert.Equal(t, int64(5), w.Last(4*time.Hour).Count)
		assert.Equal(t, int64(0), w.Last(2*time.Hour).Count)
		assert.Equal(t, 2*time.Hour, w.Last(2*time.Hour).Covered)
		assert.Len(t, w.Buckets(), 3601)
		assert.Equal(t, int64(5), w.Stats().Evicted)
	})
}

func TestCloseKeepsWhatWasCounted(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		o.add(1)
		pass(10 * time.Second)
		o.add(2)
		w.Close()
		w.Close()
		o.add(4)
		pass(time.Hour)
		assert.Equal(t, Span{Count: 3, Covered: 10 * time.Second}, w.Last(time.Minute))
		assert.Equal(t, int64(3), w.Stats().Added)
		assert.Equal(t, int64(3), sum(w.Buckets()))
		assert.Zero(t, s.Stats().Windows)
		assert.ErrorIs(t, w.Restore(nil), ErrClosed)
	})
}

func TestOwnSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left over
		o := new(oracle)
		w, err := New(o, Options{Resolution: time.Second})
		require.NoError(t, err)
		o.add(1)
		pass(10 * time.Second)
		assert.Len(t, w.Buckets(), 11)
		w.Close()

		m, err := NewMax(Options{})
		require.NoError(t, err)
		m.Close()
		m.Close()
		u, err := NewUniques(UniquesOptions{})
		require.NoError(t, err)
		u.Close()
	})
}

func TestClosedSamplerLeavesWindowsReadable(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		o.add(1)
		pass(2 * time.Second)
		s.Close()
		s.Close()
		o.add(1)
		pass(time.Minute)
		assert.Equal(t, Span{Count: 2, Covered: 62 * time.Second}, w.Last(time.Hour))
		assert.Equal(t, Span{Count: 1, Covered: 60 * time.Second}, w.Last(time.Second))
	})
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Resolution: time.Microsecond},
		{Resolution: -time.Second},
		{Buckets: -1},
		{Buckets: MaxBuckets + 1},
		{Resolution: 1 << 62, Buckets: 1 << 10},
		{Coarser: []Rung{{time.Second, 60}}},
		{Coarser: []Rung{{time.Minute, 0}}},
		{Coarser: []Rung{{time.Hour, 2}, {time.Minute, 2}}},
		{Coarser: []Rung{{time.Minute, 1}}}, // as far as the first
		{Coarser: []Rung{{time.Minute, 60}, {time.Hour, 1}}},
		{Coarser: []Rung{{90 * time.Second, 60}, {2 * time.Minute, 60}}}, // no multiple
		{Buckets: 600, Coarser: []Rung{{time.Minute, 5}}},
	} {
		_, err := New(new(oracle), o)
		assert.ErrorIs(t, err, ErrOptions, "%+v", o)
	}
	for _, newExtreme := range []func(Options) error{
		func(o Options) error { _, err := NewMax(o); return err },
		func(o Options) error { _, err := NewMin(o); return err },
	} {
		assert.ErrorIs(t, newExtreme(Options{Buckets: -1}), ErrOptions)
		assert.ErrorIs(t, newExtreme(Options{Coarser: []Rung{{time.Minute, 60}}}), ErrOptions)
	}
}

func TestSourceFunc(t *testing.T) {
	assert.Equal(t, int64(7), SourceFunc(func() int64 { return 7 }).Value())
}

func TestPerSecond(t *testing.T) {
	assert.Equal(t, 2.5, Span{Count: 5, Covered: 2 * time.Second}.PerSecond())
	assert.Zero(t, Span{Count: 5}.PerSecond())
}
