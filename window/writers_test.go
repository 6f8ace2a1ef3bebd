package window

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/stripe"
)

// rotations is how many buckets the tests with real writers live through.
const rotations = 200

// spin runs two writers until the sampler has ticked often enough. They yield
// now and then, so that one core suffices.
func spin(t *testing.T, s *Sampler, write func(rng *rand.Rand)) {
	ctx, cancel := context.WithCancel(t.Context())
	ticks := 0
	newRing(t, SourceFunc(func() int64 {
		if ticks++; ticks == rotations {
			cancel()
		}
		return 0
	}), oneByOne(s, MinResolution, 1))
	var wg sync.WaitGroup
	for seed := range uint64(2) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 6))
			for i := 0; ctx.Err() == nil; i++ {
				write(rng)
				if i%1024 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
}

// TestRingWriters is the test in which a ring whose writers reset stale
// buckets loses 2 of 100 of them: two writers that never pause, over many
// rotations in real time. One reader looks on all the while.
func TestRingWriters(t *testing.T) {
	s := NewSampler(SamplerOptions{})
	defer s.Close()
	c := new(stripe.Counter)
	const buckets = 10
	w := newRing(t, c, oneByOne(s, MinResolution, buckets))
	whole := newRing(t, c, oneByOne(s, MinResolution, 100*rotations))

	var added atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			runtime.Gosched()
			before := c.Value()
			span := w.Last(time.Hour)
			require.LessOrEqual(t, span.Count, c.Value())
			for _, b := range w.Buckets() {
				if b.Count < 0 || b.Covered < 0 {
					t.Errorf("negative bucket %+v", b)
				}
			}
			require.GreaterOrEqual(t, whole.Last(time.Hour).Count, before, "an add before the call is in it")
		}
	})
	spin(t, s, func(rng *rand.Rand) {
		n := int64(rng.IntN(3))
		c.Add(n)
		added.Add(n)
	})
	close(stop)
	wg.Wait()
	s.Close() // a tick between Stats and Buckets would evict what neither has

	for _, w := range []*Ring{w, whole} {
		st := w.Stats()
		assert.Equal(t, added.Load(), st.Added)
		assert.Equal(t, added.Load(), st.Evicted+sum(w.Buckets()))
	}
	assert.Equal(t, added.Load(), whole.Last(time.Hour).Count)
	assert.NotZero(t, w.Stats().Evicted)
	assert.LessOrEqual(t, len(w.Buckets()), buckets+1)
	assert.Zero(t, whole.Stats().Evicted)
}

// TestRotorWriters checks that what two writers add while buckets are swapped
// under them is all there in the end.
func TestRotorWriters(t *testing.T) {
	s := NewSampler(SamplerOptions{})
	defer s.Close()
	u, err := NewUniques(UniquesOptions{Resolution: MinResolution, Buckets: 100 * rotations, Sampler: s})
	require.NoError(t, err)
	defer u.Close()
	top, err := NewMax(oneByOne(s, MinResolution, 100*rotations))
	require.NoError(t, err)
	defer top.Close()

	want := new(hll.Sketch)
	var highest stripe.Max
	spin(t, s, func(rng *rand.Rand) {
		h := rng.Uint64()
		u.AddHash(h)
		want.AddHash(h)
		top.Observe(int64(h >> 1))
		highest.Observe(int64(h >> 1))
	})
	assert.Equal(t, want.Estimate(), u.Last(time.Hour).Estimate)
	most, _ := highest.Value()
	assert.Equal(t, most, top.Last(time.Hour).Value)
	assert.Greater(t, held(&u.r), rotations/4)
}

// TestReadersAndMakers makes, reads, restores and closes windows while the
// sampler runs, for the race detector.
func TestReadersAndMakers(t *testing.T) {
	s := NewSampler(SamplerOptions{})
	defer s.Close()
	c := new(stripe.Counter)
	w := newRing(t, c, Options{Resolution: MinResolution, Buckets: 5, Coarser: []Rung{{4 * MinResolution, 5}}, Sampler: s})
	u, err := NewUniques(UniquesOptions{Resolution: MinResolution, Buckets: 5, Sampler: s})
	require.NoError(t, err)
	defer u.Close()
	spin(t, s, func(rng *rand.Rand) {
		c.Inc()
		u.AddHash(rng.Uint64())
		switch rng.IntN(50) {
		case 0:
			w.Last(time.Duration(rng.IntN(10)) * MinResolution)
			w.BucketsOf(4 * MinResolution)
			w.Rates()
			w.Stats()
		case 1:
			if err := w.Restore(w.AppendRows(nil)); err != nil {
				t.Error(err)
			}
		case 2:
			if err := u.Restore(u.AppendRows(nil)); err != nil {
				t.Error(err)
			}
		case 3:
			u.Last(MinResolution)
			u.Size()
		case 4:
			short, err := New(c, Options{Sampler: s})
			if err != nil {
				t.Error(err)
				return
			}
			short.Close()
		}
	})
	assert.Equal(t, 3, s.Stats().Windows, "the ring, the uniques and what counts ticks")
	assert.Zero(t, s.Stats().Panics)
}
