package bench

import (
	"errors"
	"fmt"

	"github.com/hotcount/hotcount/stripe"
)

// ErrCount is wrapped by the error for counters that do not hold what was added
// to them.
var ErrCount = errors.New("hotcount/bench: wrong count")

// Counters are what a case works on: some counters of one implementation, made
// anew for each round. Its loops are its own, so that no call through an
// interface is in what is timed.
//
// Any number of goroutines call Incs and Run at once; the other methods are
// called while none does.
type Counters interface {
	// Incs adds one to the first counter, n times.
	Incs(n int)
	// Run makes the steps, one after the other.
	Run(steps []Step)
	// Verify returns an error that wraps ErrCount unless each counter holds
	// what was added to it. It may change the counters.
	Verify(adds []int64) error
}

// Counters may do more than that.
type (
	// An Owner gives each goroutine Counters of its own, which is closed when
	// the goroutine is done.
	Owner interface{ Own() OwnCounters }

	// OwnCounters are those of one goroutine.
	OwnCounters interface {
		Incs(n int)
		Run(steps []Step)
		Close()
	}

	// A Sharer says what part of the adds to the first counter each of its
	// stripes took.
	Sharer interface{ Shares() []float64 }

	// A Worker has goroutines that work beside those that are measured, until
	// Close.
	Worker interface {
		Workers() int
		Close()
	}
)

// A Step is an add of one to the counter of a key, or a read of it.
type Step uint32

const readStep Step = 1 << 31

// AddTo and ReadOf return the step that adds to the counter of a key, and the one
// that reads it.
func AddTo(key int) Step  { return Step(key) }
func ReadOf(key int) Step { return Step(key) | readStep }

// Read reports whether the step reads. Only workloads with Reads have such.
func (s Step) Read() bool { return s&readStep != 0 }

// Key returns the number of the counter, from 0.
func (s Step) Key() int { return int(s &^ readStep) }

// A Layout says what counters to make.
type Layout struct {
	Keys int // how many
	// Stripes and Pick are for implementations that are Striped, and mean what
	// they do in stripe.Options.
	Stripes int
	Pick    stripe.Pick
}

// An Impl is a way to count.
type Impl struct {
	Name string
	New  func(Layout) (Counters, error)
	// Striped says that New heeds Stripes and Pick.
	Striped bool
	// Unreadable says that one counter cannot be read by itself.
	Unreadable bool
}

// A Workload is a kind of work, with the implementations to compare.
type Workload struct {
	Name    string
	Summary string
	Impls   []Impl
	// Keys are the choices of a counter that make sense, the usual one first.
	Keys []Keys
	// Reads says that some of the steps may be reads.
	Reads bool
	// Weighs returns how many counters New makes for so many keys, by which to
	// divide the memory that it takes. It is nil where that means nothing.
	Weighs func(keys int) int
}

// Compare is for Verify: it compares what each counter holds with what was added.
func Compare(adds []int64, value func(key int) int64) error {
	for key, want := range adds {
		if got := value(key); got != want {
			return fmt.Errorf("%w: counter %d holds %d after %d adds", ErrCount, key, got, want)
		}
	}
	return nil
}

// CompareEstimate is Compare for a distinct count of the keys that were added, and
// of others before: the estimate may be off by 5 standard errors, which is to
// say once in two million runs.
func CompareEstimate(adds []int64, before int, estimate uint64, standardError float64) error {
	want := float64(before)
	for _, n := range adds {
		if n > 0 {
			want++
		}
	}
	if off := float64(estimate)/want - 1; off < -5*standardError || off > 5*standardError {
		return fmt.Errorf("%w: an estimate of %d for %.0f elements", ErrCount, estimate, want)
	}
	return nil
}
