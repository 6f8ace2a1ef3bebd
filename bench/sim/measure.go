package sim

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/stripe"
)

// padBytes keeps words off each other's cache lines, and off the line beside
// theirs that a prefetcher fetches, too: 256 is the longest line of any machine
// that Go runs on.
const padBytes = 256

type paddedWord struct {
	n atomic.Int64
	_ [padBytes - 8]byte
}

// walkLines is how many lines the measurement of a transfer walks over: so many
// that two workers rarely meet on one, and as few as the stripes of a counter. A
// processor that runs ahead asks for the lines of its next adds; among many lines
// that hides half of a transfer, among few the other worker takes them away again.
const walkLines = 8

// A subject is something that is measured. make returns a loop of n adds, and a
// function that says how many lines it has written to.
type subject struct {
	workers int
	make    func() (loop func(n int), lines func() int)
}

func one() int { return 1 }

// oneAtomic is adds to one word. With one worker it measures Machine.Add.
func oneAtomic() (func(n int), func() int) {
	words := make([]paddedWord, 2)
	w := &words[1] // the first one keeps it off what lies before
	return func(n int) {
		for range n {
			w.n.Add(1)
		}
	}, one
}

// walk is adds to lines drawn at random. With two workers, half of the adds find
// that the other was there last.
func walk() (func(n int), func() int) {
	words := make([]paddedWord, walkLines)
	return func(n int) {
		for range n {
			words[rand.Uint32()%walkLines].n.Add(1)
		}
	}, one
}

// counting is adds to a counter.
func counting(pick stripe.Pick, stripes int) func() (func(n int), func() int) {
	return func() (func(n int), func() int) {
		c, err := stripe.New(stripe.Options{Stripes: stripes, Pick: pick})
		if err != nil {
			panic(err) // cells have valid layouts
		}
		lines := func() (used int) {
			for _, adds := range c.Stats().Stripes {
				if adds > 0 {
					used++
				}
			}
			return used
		}
		return func(n int) {
			for range n {
				c.Add(1)
			}
		}, lines
	}
}

// A sample is one measurement: nanoseconds of an add by each worker, how many
// lines were written to, and whether other programs kept it from running.
type sample struct {
	nanos     float64
	lines     int
	disturbed bool
}

const (
	// undisturbed is the part of the processor time there is that the workers
	// must have had: workers that run one after the other do not contend.
	undisturbed = 0.95
	// mostTakes is how often a disturbed measurement is tried anew.
	mostTakes = 10
)

// measure takes s until nothing disturbs it, or for as long as is reasonable.
func (s subject) measure(d time.Duration) sample {
	var taken sample
	for range mostTakes {
		if taken = s.take(d); !taken.disturbed {
			break
		}
	}
	return taken
}

// spellBatch is how many adds a worker makes between two looks at the flag that
// ends a spell and, for one of them, at the clock: so many that looking costs
// nothing that shows.
const spellBatch = 512

// take measures s once, for about d. The end is not left to a timer, which may
// be 10 ms late when every processor is busy.
func (s subject) take(d time.Duration) sample {
	loop, lines := s.make()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(s.workers))
	var (
		ready, adds atomic.Int64
		done        atomic.Bool
		wg          sync.WaitGroup
		began       time.Time
		used        time.Duration
	)
	for i := range s.workers {
		wg.Go(func() {
			loop(spellBatch) // what is done once is not in what is timed
			if ready.Add(1) == int64(s.workers) {
				used, _ = processorTime()
				began = time.Now()
				ready.Add(1)
			}
			for ready.Load() <= int64(s.workers) {
				runtime.Gosched()
			}
			n := 0
			for !done.Load() {
				loop(spellBatch)
				n += spellBatch
				if i == 0 && time.Since(began) > d {
					done.Store(true)
				}
			}
			adds.Add(int64(n))
		})
	}
	wg.Wait()
	all := float64(time.Since(began)) * float64(s.workers)
	now, known := processorTime()
	return sample{
		nanos:     all / float64(adds.Load()),
		lines:     lines(),
		disturbed: known && float64(now-used) < undisturbed*all,
	}
}

// Spread is the middle of several measurements and how far they lie apart.
type Spread struct {
	// Median is the middle one; a quarter is below Low, a quarter above High.
	Median, Low, High float64
}

// spreadOf sorts samples.
func spreadOf(samples []float64) Spread {
	if len(samples) == 0 {
		return Spread{}
	}
	slices.Sort(samples)
	n := len(samples)
	return Spread{Median: samples[n/2], Low: samples[n/4], High: samples[n*3/4]}
}
