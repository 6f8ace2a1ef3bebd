//go:build unix

package peers

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// side is one of several loops to compare. Each round makes it anew, so that
// luck in where it lies in memory is in the spread and not in the result.
type side struct {
	name string
	make func() func(p, n int) // n steps of goroutine p
}

const (
	roundSteps  = 20_000 // well below a millisecond, and so below a time slice of the system
	warmSteps   = 1000   // what an implementation does once is not in what is timed
	wantRounds  = 31     // of each side
	mostRounds  = 2000   // until we give up on a busy machine
	undisturbed = 0.95   // of the processor time there is
)

// compareSides reports the median nanoseconds of a step of each side, in wall
// time of one goroutine, with as many goroutines as Ps. The sides take turns. A
// round counts only if the process had the processors to itself, which is to
// say if it used about as much processor time as the wall time allows.
func compareSides(b *testing.B, sides []side) {
	for _, procs := range []int{1, 2} {
		b.Run("procs="+strconv.Itoa(procs), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			took := make([][]float64, len(sides))
			for b.Loop() {
				clear(took)
				for tries := 0; tries < mostRounds && len(slices.MinFunc(took, byLength)) < wantRounds; tries++ {
					runtime.GC()
					for i, s := range sides {
						if ns, ok := round(procs, s.make()); ok {
							took[i] = append(took[i], ns)
						}
					}
				}
			}
			for i, s := range sides {
				n := len(took[i])
				if n == 0 {
					b.Fatalf("the machine is too busy to measure %s", s.name)
				}
				if n < wantRounds {
					b.Logf("%s: only %d undisturbed rounds", s.name, n)
				}
				slices.Sort(took[i])
				b.ReportMetric(took[i][n/2], s.name+"-ns")
			}
		})
	}
}

func byLength(a, b []float64) int {
	return len(a) - len(b)
}

// round runs the loop on procs goroutines that begin together, and returns the
// nanoseconds of a step and whether the processors were ours.
func round(procs int, loop func(p, n int)) (ns float64, ok bool) {
	var (
		ready atomic.Int64
		wg    sync.WaitGroup
		began time.Time
		used  time.Duration
	)
	for p := range procs {
		wg.Go(func() {
			loop(p, warmSteps)
			if ready.Add(1) == int64(procs) {
				began, used = time.Now(), processorTime()
				ready.Add(1)
			}
			for ready.Load() <= int64(procs) {
			}
			loop(p, roundSteps)
		})
	}
	wg.Wait()
	wall := time.Since(began)
	used = processorTime() - used
	return float64(wall) / roundSteps, float64(used) >= undisturbed*float64(procs)*float64(wall)
}

func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
