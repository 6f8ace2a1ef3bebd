package bench

import (
	"math"
	"slices"
	"time"
)

const (
	// latencyGap is how many steps there are from one that is timed to the
	// next: a thousand, so that the clock takes a few percent of the time at
	// most, and prime, so that it visits every step of a script in turn.
	latencyGap = 1009
	// latencyStride sets the goroutines apart, so that not all read the clock
	// at once.
	latencyStride = 389
	// clockReadings is how often the cost of the clock is measured.
	clockReadings = 255
)

// latency makes n steps on each goroutine, and times one in many of them.
func (b *bench) latency(n int) *Percentiles {
	took := make([][]time.Duration, b.goroutines)
	for g := range took {
		took[g] = make([]time.Duration, 0, n/latencyGap+1)
	}
	var clock time.Duration
	b.run(n, func(g int, c OwnCounters) {
		s := b.scripts[g%len(b.scripts)]
		if g == 0 {
			clock = clockCost(c)
		}
		from := 0
		for at := g * latencyStride % min(n, latencyGap); at < n; at += latencyGap {
			s.run(from, at, c)
			began := time.Now()
			s.run(at, at+1, c)
			took[g] = append(took[g], time.Since(began))
			from = at + 1
		}
		s.run(from, n, c)
	})
	b.tally(n, b.adds)
	return percentiles(slices.Concat(took...), clock)
}

// clockCost returns how long it takes to time a step, without the step.
func clockCost(c OwnCounters) time.Duration {
	var none script
	took := make([]time.Duration, clockReadings)
	for i := range took {
		began := time.Now()
		none.run(0, 0, c)
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// percentiles sorts the samples, from which the cost of the clock has not been
// subtracted yet, and returns nil if there are none.
func percentiles(took []time.Duration, clock time.Duration) *Percentiles {
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	at := func(q float64) float64 {
		// The smallest sample that a part q of all do not exceed.
		i := max(int(math.Ceil(q*float64(len(took))))-1, 0)
		return float64(max(took[i]-clock, 0))
	}
	return &Percentiles{
		Samples: len(took),
		Clock:   float64(clock),
		P50:     at(0.5),
		P90:     at(0.9),
		P99:     at(0.99),
		P999:    at(0.999),
		Max:     at(1),
	}
}
