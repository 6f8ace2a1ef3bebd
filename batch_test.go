package hotcount

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Committed batches add up to what a map of sums holds; discarded ones add
// nothing. The numbers of counters lie on both sides of batchScan.
func TestBatchAgainstSums(t *testing.T) {
	e := newEngine(t, Options{})
	counters := make([]*Counter, 3*batchScan)
	for i := range counters {
		counters[i] = e.Counter("jobs_total", "n", strconv.Itoa(i))
	}
	want := make([]int64, len(counters))
	r := rand.New(rand.NewPCG(1, 2))
	var b Batch
	for round := range 200 {
		sums := map[int]int64{}
		for range r.IntN(4 * batchScan) {
			i, n := r.IntN(1+r.IntN(len(counters))), r.Int64N(9)-4
			if n == 1 {
				b.Inc(counters[i])
			} else {
				b.Add(counters[i], n)
			}
			sums[i] += n
		}
		assert.Equal(t, len(sums), b.Len())
		if round%3 == 0 {
			b.Discard()
		} else {
			b.Commit()
			for i, n := range sums {
				want[i] += n
			}
		}
		assert.Zero(t, b.Len())
		b.Commit() // of an empty batch
		for i, c := range counters {
			assert.Equal(t, want[i], c.Value(), "round %d, counter %d", round, i)
		}
	}
}

func TestBatchesOfManyGoroutines(t *testing.T) {
	e := newEngine(t, Options{})
	c := e.Counter("jobs_total")
	const writers, commits, each = 8, 100, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			var b Batch
			for range commits {
				for range each {
					b.Inc(c)
				}
				b.Commit()
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, writers*commits*each, c.Value())
}

// An emptied batch keeps no counter alive and its memory for the next use.
func TestBatchIsReusable(t *testing.T) {
	e := newEngine(t, Options{})
	c := e.Counter("jobs_total")
	var b Batch
	b.Inc(c)
	b.Discard()
	assert.Nil(t, b.adds[:1][0].c)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		b.Inc(c)
		b.Commit()
	}))
}
