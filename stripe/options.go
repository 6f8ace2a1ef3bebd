package stripe

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
)

// Pick is the rule that chooses a stripe for a write.
type Pick uint8

const (
	// Auto lets the counter choose; today that is PerP.
	Auto Pick = iota
	// PerP gives each processor (GOMAXPROCS of them) its own stripe. In a
	// build with the hotcount_portable tag it is PerGoroutine.
	PerP
	// PerGoroutine hashes the address of the calling goroutine's stack. It is
	// the cheapest pick, but two goroutines whose addresses collide share a
	// stripe for as long as they live, and thousands of short-lived goroutines
	// spread like Random.
	PerGoroutine
	// Random draws a stripe for each write. Every stripe is then written by
	// every processor, which costs more than one atomic.Int64 on few cores; it
	// is here for those who must not depend on where a goroutine runs.
	Random
)

// String returns the rule's name.
func (p Pick) String() string {
	switch p {
	case Auto:
		return "Auto"
	case PerP:
		return "PerP"
	case PerGoroutine:
		return "PerGoroutine"
	case Random:
		return "Random"
	}
	return fmt.Sprintf("Pick(%d)", uint8(p))
}

// MaxStripes is the largest number of stripes of one counter: 2^16 stripes of
// 64 bytes are 4 MiB, and more than the processors of any machine Go runs on.
const MaxStripes = 1 << 16

var (
	// ErrStripes says that a number of stripes is negative or above MaxStripes.
	ErrStripes = errors.New("hotcount/stripe: stripes out of range")
	// ErrPick says that a pick is none of the rules of this package.
	ErrPick = errors.New("hotcount/stripe: unknown pick")
)

// Options fixes the layout of a counter. The zero Options leave it adaptive.
type Options struct {
	// Stripes is how many stripes the counter has, rounded up to a power of
	// two. 0 means one for each of GOMAXPROCS, as it is when the stripes are
	// made.
	Stripes int
	// Pick chooses the stripe of each write. The default is Auto.
	Pick Pick
}

// New returns a counter of the layout that o asks for. With zero Options it is
// the adaptive counter that the zero Counter is; with any field set, its
// stripes are made at once and it is hot from the start.
//
// It fails with ErrStripes or ErrPick.
func New(o Options) (*Counter, error) {
	if o.Stripes < 0 || o.Stripes > MaxStripes {
		return nil, fmt.Errorf("%w: %d is not in 0..%d", ErrStripes, o.Stripes, MaxStripes)
	}
	if o.Pick > Random {
		return nil, fmt.Errorf("%w: %v", ErrPick, o.Pick)
	}
	c := new(Counter)
	if o != (Options{}) {
		n := o.Stripes
		if n == 0 {
			n = runtime.GOMAXPROCS(0)
		}
		c.hot.Store(newTable(roundUp(n), o.Pick))
	}
	return c, nil
}

// roundUp returns the smallest power of two that is at least n, for n ≥ 1.
func roundUp(n int) int {
	return 1 << bits.Len(uint(n-1))
}
