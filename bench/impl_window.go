package bench

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

// windowImpls count, and can say what they counted in the last minute.
func windowImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: newWindowed},
		{Name: "mutexring", New: func(Layout) (Counters, error) {
			return &mutexRing{second: time.Now().Unix()}, nil
		}},
		{Name: "atomic-without", Unreadable: true, New: func(Layout) (Counters, error) {
			return atomics(work.Cells[atomic.Int64](1)), nil
		}},
	}
}

// windowed is a counter with a window over it.
type windowed struct {
	adaptive
	ring *window.Ring
}

func newWindowed(Layout) (Counters, error) {
	c := work.Cells[stripe.Counter](1)
	ring, err := window.New(&c[0], window.Options{Resolution: time.Second, Buckets: 60})
	if err != nil {
		return nil, err
	}
	return &windowed{c, ring}, nil
}

func (w *windowed) Run(steps []Step) {
	c := &w.adaptive[0]
	for _, s := range steps {
		if s.Read() {
			w.ring.Last(time.Minute)
		} else {
			c.Inc()
		}
	}
}

func (w *windowed) Verify(adds []int64) error {
	return Compare(adds, func(int) int64 { return w.ring.Last(time.Minute).Count })
}

// Workers says that the sampler's goroutine is idle but for a moment each
// second.
func (w *windowed) Workers() int { return 0 }

func (w *windowed) Close() { w.ring.Close() }

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

func (r *mutexRing) Incs(n int) {
	for range n {
		r.inc()
	}
}

func (r *mutexRing) Run(steps []Step) {
	for _, s := range steps {
		if s.Read() {
			r.last()
		} else {
			r.inc()
		}
	}
}

func (r *mutexRing) Verify(adds []int64) error {
	return Compare(adds, func(int) int64 { return r.last() })
}
