package peers

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RussellLuo/slidingwindow"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/go-kratos/aegis/circuitbreaker/sre"

	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

// mutexRing is the window that people write themselves: 60 buckets of a second
// behind a mutex, of which a writer clears those that have gone stale.
type mutexRing struct {
	mu     sync.Mutex
	counts [60]int64
	second int64
}

func (r *mutexRing) advance() {
	now := time.Now().Unix()
	if now-r.second > int64(len(r.counts)) {
		r.second = now - int64(len(r.counts))
	}
	for ; r.second < now; r.second++ {
		r.counts[(r.second+1)%int64(len(r.counts))] = 0
	}
}

func (r *mutexRing) inc() {
	r.mu.Lock()
	r.advance()
	r.counts[r.second%int64(len(r.counts))]++
	r.mu.Unlock()
}

func (r *mutexRing) last() (sum int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance()
	for _, n := range r.counts {
		sum += n
	}
	return sum
}

// A windowPeer counts one event, and what it counted in the last minute if it
// can be asked.
type windowPeer struct {
	name string
	add  func()
	last func()
}

// windowPeers returns ours, a counter without a window, and theirs. The peers
// keep their windows inside breakers and limiters, so adding is reporting a
// success or taking a permit; the limits are out of reach.
func windowPeers(b *testing.B) []windowPeer {
	var plain atomic.Int64
	c := new(stripe.Counter)
	w, err := window.New(c, window.Options{Resolution: time.Second, Buckets: 60})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Close)
	ring := new(mutexRing)
	ring.second = time.Now().Unix()
	limiter, stop := slidingwindow.NewLimiter(time.Minute, math.MaxInt64/2, func() (slidingwindow.Window, slidingwindow.StopFunc) {
		return slidingwindow.NewLocalWindow()
	})
	b.Cleanup(stop)
	failsafe := circuitbreaker.NewBuilder[any]().WithFailureThresholdPeriod(math.MaxInt32, time.Minute).Build()
	aegis := sre.NewBreaker(sre.WithWindow(time.Minute), sre.WithBucket(60))
	return []windowPeer{
		{"atomic-no-window", func() { plain.Add(1) }, nil},
		{"hotcount", c.Inc, func() { w.Last(time.Minute) }},
		{"mutex-ring", ring.inc, func() { ring.last() }},
		{"slidingwindow", func() { limiter.Allow() }, nil},
		{"failsafe", failsafe.RecordSuccess, func() { failsafe.Metrics().Successes() }},
		{"aegis", aegis.MarkSuccess, func() { _ = aegis.Allow() }},
	}
}

func BenchmarkWindowAdd(b *testing.B) {
	for _, p := range windowPeers(b) {
		b.Run("impl="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					p.add()
				}
			})
		})
	}
}

func BenchmarkWindowLast(b *testing.B) {
	for _, p := range windowPeers(b) {
		if p.last == nil {
			continue
		}
		b.Run("impl="+p.name, func(b *testing.B) {
			p.add()
			b.ReportAllocs()
			for b.Loop() {
				p.last()
			}
		})
	}
}
