package window

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// DefaultResolution is the bucket width where Options give none.
	DefaultResolution = time.Second
	// DefaultBuckets is the number of buckets where Options give none: one
	// minute of seconds, so the last minute is known to 1/60 of itself.
	DefaultBuckets = 60
	// MinResolution is the least bucket width. Timers are not punctual enough
	// for finer ones.
	MinResolution = time.Millisecond
	// MaxBuckets is the most buckets a window may have: more than the seconds
	// of a week, 16 MiB of a busy ring.
	MaxBuckets = 1 << 20
)

// ErrOptions is wrapped by every error about options of this package.
var ErrOptions = errors.New("hotcount/window: invalid options")

// Options says how finely and how far back a window remembers. Zero fields have
// defaults. Wholly zero Resolution, Buckets and Coarser stand for a ladder that
// answers for the last minute, hour and day, each to 1/60 of itself or better:
// 60 buckets of a second, 60 of a minute, 96 of 15 minutes.
type Options struct {
	// Resolution is the width of a bucket.
	Resolution time.Duration
	// Buckets is how many whole buckets are kept besides the live one. A
	// ring of a busy source takes 16 bytes for each.
	Buckets int
	// Coarser are further rungs over the same source, for longer spans at
	// less memory. The resolution of each must be a multiple of the one before,
	// so that a coarse bucket is the sum of finer ones, and it must reach further
	// back, so that reaches tell rungs apart; its fields have no defaults.
	Coarser []Rung
	// Sampler drives the window. Without one the window starts its own, with
	// a goroutine that ends at the window's Close.
	Sampler *Sampler
}

// A Rung is one resolution of a ladder.
type Rung struct {
	Resolution time.Duration
	Buckets    int
}

// ladder returns the rungs that o asks for, finest first.
func (o Options) ladder() ([]Rung, error) {
	if o.Resolution == 0 && o.Buckets == 0 && len(o.Coarser) == 0 {
		return []Rung{
			{DefaultResolution, DefaultBuckets},
			{time.Minute, 60},
			{15 * time.Minute, 96},
		}, nil
	}
	first := Rung{o.Resolution, o.Buckets}.withDefaults()
	rungs := append([]Rung{first}, o.Coarser...)
	for i, r := range rungs {
		if err := r.check(); err != nil {
			return nil, err
		}
		if i > 0 && (r.Resolution <= rungs[i-1].Resolution || r.Resolution%rungs[i-1].Resolution != 0) {
			return nil, fmt.Errorf("%w: the resolution %v of a rung is no multiple of %v, the one before", ErrOptions, r.Resolution, rungs[i-1].Resolution)
		}
		if i > 0 && r.Reach() <= rungs[i-1].Reach() {
			return nil, fmt.Errorf("%w: rung of %v reaches back %v, no further than %v of the one before", ErrOptions, r.Resolution, r.Reach(), rungs[i-1].Reach())
		}
	}
	return rungs, nil
}

func (r Rung) withDefaults() Rung {
	if r.Resolution == 0 {
		r.Resolution = DefaultResolution
	}
	if r.Buckets == 0 {
		r.Buckets = DefaultBuckets
	}
	return r
}

func (r Rung) check() error {
	if r.Resolution < MinResolution {
		return fmt.Errorf("%w: resolution %v is below %v", ErrOptions, r.Resolution, MinResolution)
	}
	if r.Buckets < 1 || r.Buckets > MaxBuckets {
		return fmt.Errorf("%w: %d buckets, not 1..%d", ErrOptions, r.Buckets, MaxBuckets)
	}
	if int64(r.Resolution) > math.MaxInt64/2/int64(r.Buckets) {
		return fmt.Errorf("%w: %d buckets of %v are beyond the reach of time.Duration", ErrOptions, r.Buckets, r.Resolution)
	}
	return nil
}

// drive returns the sampler to use and what to close with the window: the
// sampler if it is the window's own, else nothing.
func drive(given *Sampler) (s, own *Sampler) {
	if given != nil {
		return given, nil
	}
	s = NewSampler(SamplerOptions{})
	return s, s
}
