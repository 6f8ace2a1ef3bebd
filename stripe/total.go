package stripe

import (
	"sync"
	"sync/atomic"
	"time"
)

// Valuer is what a Total caches: a [Counter], a [Monotone], or a sum of them.
type Valuer interface {
	Value() int64
}

// Total is a cached sum for readers that can do with one a little old, so that
// many reads cost the writers nothing. Make one with [NewTotal].
//
// Its methods may be called from any goroutine. The adds that a sum includes
// synchronize before the read that returns it.
type Total struct {
	src     Valuer
	every   time.Duration
	refresh sync.Mutex // held by the one who sums
	last    atomic.Pointer[reading]
}

// reading is a sum and when it was begun, which is the oldest any of its parts
// can be.
type reading struct {
	sum int64
	at  time.Time
}

// NewTotal returns a Total over src, which it reads at most once in every, plus
// once now. If every is 0 or less each read is fresh, but for those that
// another one is refreshing.
func NewTotal(src Valuer, every time.Duration) *Total {
	t := &Total{src: src, every: every}
	t.read()
	return t
}

// Value returns the sum and its age: all adds that returned longer than age ago
// are in it. Who finds the sum older than the Total's interval reads the source
// again; those who come meanwhile do not wait, but get the old sum and its age.
func (t *Total) Value() (sum int64, age time.Duration) {
	r := t.last.Load()
	if age = time.Since(r.at); age < t.every || !t.refresh.TryLock() {
		return r.sum, age
	}
	defer t.refresh.Unlock()
	if t.last.Load() == r { // else it was refreshed while we came here
		t.read()
	}
	r = t.last.Load()
	return r.sum, time.Since(r.at)
}

func (t *Total) read() {
	at := time.Now()
	t.last.Store(&reading{sum: t.src.Value(), at: at})
}
