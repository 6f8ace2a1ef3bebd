package bench

import (
	"errors"
	"fmt"
	"time"
)

// ErrOptions is wrapped by every error about options of this package.
var ErrOptions = errors.New("hotcount/bench: invalid options")

// Options say how to measure. Zero fields have defaults.
type Options struct {
	// Samples is how many rounds each result has, 6 at least and by default
	// 10.
	Samples int
	// Round is how long the work of one case takes in a round, 10 ms by
	// default: short enough for many rounds between two disturbances. With a
	// Budget it may be shorter.
	Round time.Duration
	// Budget is how long Run may take in all. It starts no work that it does
	// not expect to end in time. 0 is as long as it takes.
	Budget time.Duration
	// Procs is GOMAXPROCS during Run, by default what it is.
	Procs int
	// Progress, if not nil, is called between any two measurements.
	Progress func(Progress)
}

const (
	// MinSamples is the least number of samples from which the median and the
	// quartiles mean something.
	MinSamples     = 6
	defaultSamples = 10

	defaultRound = 10 * time.Millisecond
	maxRound     = time.Second
	// minRound is a hundred times what starting and ending goroutines adds to
	// a round.
	minRound = time.Millisecond
)

// Progress says how far Run is.
type Progress struct {
	Case  string // that is next
	Done  int    // measurements
	Total int    // measurements, without those that replace disturbed ones
	Left  time.Duration
}

// warmUpRounds is how many rounds more the first pass takes as long as, in which
// each case finds out how many steps fill a round, and times single operations:
// three to find the number of steps, the last of which may take a whole round,
// and one to time operations.
const warmUpRounds = 4

// An agenda is what there is time for.
type agenda struct {
	round  time.Duration
	rounds int // samples wanted
	spare  int // rounds beyond them, to replace disturbed ones
}

// newAgenda divides the time there is. It fails if the budget is too small for
// the least that makes a result.
func newAgenda(cases []Case, o Options) (agenda, error) {
	switch {
	case len(cases) == 0:
		return agenda{}, fmt.Errorf("%w: there is no case to measure", ErrOptions)
	case o.Samples < 0 || o.Samples > 0 && o.Samples < MinSamples:
		return agenda{}, fmt.Errorf("%w: %d samples, at least %d make a result", ErrOptions, o.Samples, MinSamples)
	case o.Round < 0 || o.Round > 0 && o.Round < minRound || o.Round > maxRound:
		return agenda{}, fmt.Errorf("%w: a round of %v is not in %v to %v", ErrOptions, o.Round, minRound, maxRound)
	case o.Budget < 0:
		return agenda{}, fmt.Errorf("%w: a budget of %v", ErrOptions, o.Budget)
	case o.Procs < 0:
		return agenda{}, fmt.Errorf("%w: GOMAXPROCS of %d", ErrOptions, o.Procs)
	}
	a := agenda{round: o.Round, rounds: o.Samples}
	if a.round == 0 {
		a.round = defaultRound
	}
	if a.rounds == 0 {
		a.rounds = defaultSamples
	}
	a.spare = a.rounds
	if o.Budget == 0 {
		return a, nil
	}
	if least := a.with(minRound).takes(cases); least > o.Budget {
		return agenda{}, fmt.Errorf("%w: %d cases take %v at least, and the budget is %v",
			ErrOptions, len(cases), least.Round(time.Second), o.Budget)
	}
	works := time.Duration(len(cases) * a.works())
	a.round = min(a.round, minRound+(o.Budget-a.with(minRound).takes(cases))/works)
	return a, nil
}

func (a agenda) with(round time.Duration) agenda {
	a.round = round
	return a
}

// works returns how many rounds' time each case works in all passes.
func (a agenda) works() int { return warmUpRounds + a.rounds }

// takes returns how long all passes are expected to take.
func (a agenda) takes(cases []Case) time.Duration {
	work := a.round * time.Duration(len(cases)*a.works())
	for i := range cases {
		work += overhead(&cases[i]) * time.Duration(a.rounds)
	}
	return work
}

// overhead is a generous estimate of what measuring a case takes beside the
// work itself: making the counters, a garbage collection, starting goroutines,
// and verifying the counts.
func overhead(c *Case) time.Duration {
	const (
		collection = 2 * time.Millisecond
		goroutine  = time.Microsecond
		counter    = time.Microsecond
	)
	return collection + time.Duration(c.Goroutines)*goroutine + time.Duration(c.Keys.count())*counter
}
