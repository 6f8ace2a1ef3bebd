package peers

import (
	"fmt"
	"math"
	"time"

	"github.com/RussellLuo/slidingwindow"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	aegis "github.com/go-kratos/aegis/circuitbreaker"
	"github.com/go-kratos/aegis/circuitbreaker/sre"

	"github.com/hotcount/hotcount/bench"
)

// windows are kept inside breakers and limiters, so adding is reporting a
// success or taking a permit; the limits are out of reach.
func windows() []bench.Impl {
	return []bench.Impl{
		{Name: "slidingwindow", New: newLimiter, Unreadable: true},
		{Name: "failsafe", New: newFailsafe},
		{Name: "aegis", New: newAegis},
	}
}

type limiter struct {
	*slidingwindow.Limiter
	stop slidingwindow.StopFunc
}

func newLimiter(bench.Layout) (bench.Counters, error) {
	l, stop := slidingwindow.NewLimiter(time.Minute, math.MaxInt64/2, func() (slidingwindow.Window, slidingwindow.StopFunc) {
		return slidingwindow.NewLocalWindow()
	})
	return limiter{l, stop}, nil
}

func (l limiter) Incs(n int) {
	for range n {
		l.Allow()
	}
}

func (l limiter) Run(steps []bench.Step) { l.Incs(len(steps)) }

// Verify takes all permits that must be left: the limiter has no other way to
// say what it counted.
func (l limiter) Verify(adds []int64) error {
	left := int64(math.MaxInt64/2) - adds[0]
	now := time.Now()
	if !l.AllowN(now, left) || l.AllowN(now, 1) {
		return fmt.Errorf("%w: the limiter does not have %d permits left", bench.ErrCount, left)
	}
	return nil
}

func (l limiter) Workers() int { return 0 }

func (l limiter) Close() { l.stop() }

type failsafe struct {
	circuitbreaker.CircuitBreaker[any]
}

func newFailsafe(bench.Layout) (bench.Counters, error) {
	b := circuitbreaker.NewBuilder[any]().WithFailureThresholdPeriod(math.MaxInt32, time.Minute).Build()
	return failsafe{b}, nil
}

func (f failsafe) Incs(n int) {
	for range n {
		f.RecordSuccess()
	}
}

func (f failsafe) Run(steps []bench.Step) {
	for _, s := range steps {
		if s.Read() {
			f.Metrics().Successes()
		} else {
			f.RecordSuccess()
		}
	}
}

func (f failsafe) Verify(adds []int64) error {
	return bench.Compare(adds, func(int) int64 { return int64(f.Metrics().Successes()) })
}

type breaker struct{ aegis.CircuitBreaker }

func newAegis(bench.Layout) (bench.Counters, error) {
	return breaker{sre.NewBreaker(sre.WithWindow(time.Minute), sre.WithBucket(60))}, nil
}

func (b breaker) Incs(n int) {
	for range n {
		b.MarkSuccess()
	}
}

// Run reads by asking for a verdict, which sums the window up.
func (b breaker) Run(steps []bench.Step) {
	for _, s := range steps {
		if !s.Read() {
			b.MarkSuccess()
		} else if b.Allow() != nil {
			panic("a breaker without failures is open")
		}
	}
}

// Verify can only ask for the verdict: the breaker says nothing else.
func (b breaker) Verify([]int64) error { return b.Allow() }
