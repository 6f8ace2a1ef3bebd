package size

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/hotcount/hotcount/stripe"
)

// measureFor is how long each cost is measured.
const measureFor = 200 * time.Millisecond

// Measure fills in those of c's costs that are 0.
func Measure(c Costs) Costs {
	if c.Processors == 0 {
		c.Processors = runtime.GOMAXPROCS(0)
	}
	if c.LineBytes == 0 {
		c.LineBytes = int(max(unsafe.Sizeof(cpu.CacheLinePad{}), unsafe.Sizeof(int64(0)))) // as package stripe
	}
	if c.Ceiling == 0 {
		c.Ceiling = stripe.Ceiling(measureFor)
	}
	if c.Line == 0 {
		c.Line = readLine(measureFor)
	}
	return c
}

// readLine returns how many nanoseconds Value takes for each line while every
// other processor adds. With one processor there is no other, and lines are read
// from the nearest cache.
func readLine(d time.Duration) float64 {
	processors := runtime.GOMAXPROCS(0)
	c, err := stripe.New(stripe.Options{Pick: stripe.PerP})
	if err != nil {
		panic(err) // these options are valid
	}
	lines := len(c.Stats().Stripes) + 1 // and the base
	var (
		done atomic.Bool
		wg   sync.WaitGroup
	)
	for range processors - 1 {
		wg.Go(func() {
			for !done.Load() {
				c.Inc()
			}
		})
	}
	const batch = 16 // reads between two looks at the clock
	reads, began := 0, time.Now()
	for time.Since(began) < d {
		for range batch {
			c.Value()
		}
		reads += batch
	}
	took := time.Since(began)
	done.Store(true)
	wg.Wait()
	return float64(took) / float64(reads*lines)
}
