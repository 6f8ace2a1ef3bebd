package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"github.com/hotcount/hotcount/stripe"
)

// ErrProcessors says that there is one processor, so that no line ever changes
// cores and a transfer cannot be measured.
var ErrProcessors = errors.New("hotcount/bench/sim: measuring a transfer needs GOMAXPROCS of 2 or more")

const (
	// DefaultRounds is how often Compare measures everything.
	DefaultRounds = 31
	// DefaultSpell is how long one measurement takes: long beside the start of
	// goroutines, short beside a time slice of the system.
	DefaultSpell = time.Millisecond
)

// Options says what Compare does. Zero fields have defaults.
type Options struct {
	// Rounds is how often everything is measured, in turns.
	Rounds int
	// Spell is how long each measurement takes.
	Spell time.Duration
	// Sockets and Cross are those of Machine, which are not measured. A Cross
	// below the measured Transfer counts as that.
	Sockets int
	Cross   float64
}

// A Calibration is what a model of this computer is made from. All are medians.
type Calibration struct {
	// Machine has Add and Transfer as measured.
	Machine Machine
	// Transfer is how far apart the rounds' transfers lie. They do so by a
	// factor where a virtual machine's processors are moved about.
	Transfer Spread
	// PickCost is what each Pick costs beside the add. OneAtomic costs
	// nothing: it is what Add is measured with.
	PickCost [Random + 1]float64
}

// A Cell is one layout under one number of workers, measured and predicted. All
// times are nanoseconds of an add by each worker.
type Cell struct {
	Workers int
	Stripes int
	Pick    Pick
	// Lines is how many lines the workers wrote to. It differs from one round
	// to the next for PerGoroutine; the rounds with the most frequent are
	// the cell.
	Lines int
	// Rounds is how many rounds that is, of those that nothing disturbed.
	Rounds    int
	Measured  Spread
	Predicted float64
	// Ratio is the median over the rounds of predicted ÷ measured.
	Ratio float64
}

// A Comparison is this computer, measured and predicted.
type Comparison struct {
	Calibration Calibration
	Cells       []Cell
}

// Worst returns the cell whose prediction is farthest off, as a factor.
func (c Comparison) Worst() Cell {
	off := func(c Cell) float64 { return max(c.Ratio, 1/c.Ratio) }
	return slices.MaxFunc(c.Cells, func(a, b Cell) int { return cmp.Compare(off(a), off(b)) })
}

// Compare calibrates a model of this computer and compares what it predicts
// with what is measured, for 1, 2, 4 and so on up to GOMAXPROCS workers. Each
// round has a calibration of its own, measured beside the cells that are
// predicted from it.
//
// It sets GOMAXPROCS for each measurement, and keeps all processors busy: run it
// while nothing else does. It fails with ErrProcessors, ErrBusy, an error that
// wraps ErrConfig, or ctx's.
func Compare(ctx context.Context, o Options) (Comparison, error) {
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
	}
	if o.Spell == 0 {
		o.Spell = DefaultSpell
	}
	if err := o.check(); err != nil {
		return Comparison{}, err
	}
	procs := runtime.GOMAXPROCS(0)
	if procs < 2 {
		return Comparison{}, ErrProcessors
	}
	s := newSurvey(procs)
	for i := range o.Rounds {
		if err := s.round(ctx, o); err != nil {
			return Comparison{}, err
		}
		if i == patience && !slices.ContainsFunc(s.models, func(m model) bool { return !m.disturbed }) {
			return Comparison{}, ErrBusy
		}
	}
	return s.comparison(o)
}

// patience is after how many rounds, all of them disturbed, Compare gives up.
const patience = 4

func (o Options) check() error {
	if o.Rounds < 0 || o.Spell < 0 {
		return fmt.Errorf("%w: %d rounds of %v", ErrConfig, o.Rounds, o.Spell)
	}
	if o.Sockets < 0 || o.Sockets > MaxSockets {
		return fmt.Errorf("%w: %d sockets, not 1 to %d", ErrConfig, o.Sockets, MaxSockets)
	}
	return checkNanos("Cross", o.Cross, true)
}

// A survey gathers rounds.
type survey struct {
	cells   []Cell
	samples [][]sample // by cell
	models  []model
}

// A model is the calibration of one round.
type model struct {
	Calibration
	disturbed bool
}

func newSurvey(procs int) *survey {
	s := new(survey)
	for workers := 1; ; workers = min(2*workers, procs) {
		s.cells = append(s.cells, Cell{Workers: workers, Stripes: 1, Pick: OneAtomic})
		for _, pick := range []Pick{PerP, PerGoroutine, Random} {
			for _, stripes := range stripesFor(workers) {
				s.cells = append(s.cells, Cell{Workers: workers, Stripes: stripes, Pick: pick})
			}
		}
		if workers == procs {
			break
		}
	}
	s.samples = make([][]sample, len(s.cells))
	return s
}

// stripesFor returns the numbers of stripes that are compared: 1 to 8, and one
// for each worker if that is more.
func stripesFor(workers int) []int {
	stripes := []int{1, 2, 4, 8}
	if n := 1 << bits.Len(uint(workers-1)); n > 8 {
		stripes = append(stripes, n)
	}
	return stripes
}

// stripePicks are the rules of package stripe.
var stripePicks = [...]stripe.Pick{PerP: stripe.PerP, PerGoroutine: stripe.PerGoroutine, Random: stripe.Random}

func (c Cell) subject() subject {
	if c.Pick == OneAtomic {
		return subject{c.Workers, oneAtomic}
	}
	return subject{c.Workers, counting(stripePicks[c.Pick], c.Stripes)}
}

// round calibrates, and measures every cell once.
func (s *survey) round(ctx context.Context, o Options) error {
	s.models = append(s.models, calibrate(o))
	for i, c := range s.cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.samples[i] = append(s.samples[i], c.subject().measure(o.Spell))
	}
	return nil
}

// ErrBusy says that other programs kept the processors in every round.
var ErrBusy = errors.New("hotcount/bench/sim: the machine is too busy to measure")

// calibrate makes the two measurements that say what a machine is, and one for
// each pick.
func calibrate(o Options) model {
	var c model
	nanos := func(workers int, of func() (func(int), func() int)) float64 {
		s := subject{workers, of}.measure(o.Spell)
		c.disturbed = c.disturbed || s.disturbed
		return s.nanos
	}
	add := nanos(1, oneAtomic)
	// Half of the adds of a walk by two find the line at the other core. In a
	// noisy moment the walk by two may look the faster one.
	transfer := max(2*(nanos(2, walk)-nanos(1, walk)), 0)
	c.Machine = Machine{Add: add, Transfer: transfer, Cross: max(o.Cross, transfer), Sockets: o.Sockets}
	for pick := PerP; pick <= Random; pick++ {
		c.PickCost[pick] = max(nanos(1, counting(stripePicks[pick], 1))-add, 0)
	}
	return c
}
