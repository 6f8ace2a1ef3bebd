package stripe

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// ErrRate says that a rate is not a positive number, or that no number of
// stripes is enough for it.
var ErrRate = errors.New("hotcount/stripe: rate out of range")

// Recommend returns how many stripes a counter needs for peak adds per second,
// if one stripe takes ceiling adds per second: at least peak ÷ ceiling, rounded
// up to a power of two as [New] rounds. [Ceiling] measures a ceiling.
//
// It fails with ErrRate if a rate is not a positive finite number or the result
// would be above MaxStripes.
func Recommend(peak, ceiling float64) (stripes int, err error) {
	for _, rate := range []float64{peak, ceiling} {
		if !(rate > 0) || math.IsInf(rate, 0) {
			return 0, fmt.Errorf("%w: %v adds per second", ErrRate, rate)
		}
	}
	n := math.Ceil(peak / ceiling)
	if n > MaxStripes {
		return 0, fmt.Errorf("%w: %v ÷ %v needs more than %d stripes", ErrRate, peak, ceiling, MaxStripes)
	}
	return roundUp(max(int(n), 1)), nil
}

// ceilingBatch is how many adds a writer makes between two looks at the clock's
// flag, so that looking costs nothing that shows.
const ceilingBatch = 1024

// Ceiling measures how many adds per second one stripe takes on this machine
// when every P adds to it. It keeps all of them busy for d; 100 ms give a
// steady figure. With GOMAXPROCS at 1 there is no contention to measure, and
// the figure is that of one writer.
func Ceiling(d time.Duration) (addsPerSecond float64) {
	var (
		one  = newTable(1, PerP).at(0)
		done atomic.Bool
		wg   sync.WaitGroup
	)
	began := time.Now()
	time.AfterFunc(d, func() { done.Store(true) })
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for ok := true; ok; ok = !done.Load() {
				for range ceilingBatch {
					one.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(one.Load()) / time.Since(began).Seconds()
}
