package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"
)

// Run measures the cases. Each is made, warmed up and timed anew in every round,
// and its counts are verified. Cases that are to be compared take turns, in an
// order drawn for each round. Rounds in which the process did not have its
// processors to itself are repeated at the end, as often as there were samples
// and as the Budget allows.
//
// If ctx ends, or there is an error, Run stops before the next measurement, and
// returns what there is together with the error: one that wraps ErrCount if an
// implementation lost a count, and ctx's cause if that was it. The report is nil
// only if nothing was measured. On a machine that is too busy for the Budget, cases
// and samples are missing. Command and Commit are left to the caller.
//
// Nothing else should run in the process meanwhile.
func Run(ctx context.Context, cases []Case, o Options) (*Report, error) {
	a, err := newAgenda(cases, o)
	if err != nil {
		return nil, err
	}
	if o.Procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.Procs))
	}
	r := newRunner(cases, a, o)
	report := &Report{
		Machine: ThisMachine(),
		Date:    time.Now().UTC().Truncate(time.Second),
		Samples: a.rounds,
	}
	before := readSystem()
	err = r.passes(ctx)
	report.Noise = r.noise(before, readSystem())
	report.Results = r.results()
	if len(report.Results) == 0 {
		return nil, err
	}
	return report, err
}

// A runner is a run.
type runner struct {
	cases  []Case
	agenda agenda
	o      Options

	// measure makes one measurement of case i; another one in tests.
	measure func(i, pass int) error
	since   func() time.Duration // Run began

	groups  [][]int
	scripts map[scriptKey][]script
	weights map[weightKey]float64
	of      []measured // by case

	done    int
	longest time.Duration // measurement so far

	cpu, possible     time.Duration
	rounds, disturbed int
}

type scriptKey struct {
	keys        Keys
	readPercent int
}

type weightKey struct {
	workload, impl string
	layout         Layout
}

// measured is what is known of a case.
type measured struct {
	steps            int // of a goroutine, that fill a round
	quiet, disturbed []float64
	latency          *Percentiles
	bytes            float64
	shares           []float64
}

func newRunner(cases []Case, a agenda, o Options) *runner {
	began := time.Now()
	r := &runner{
		cases:   cases,
		agenda:  a,
		o:       o,
		since:   func() time.Duration { return time.Since(began) },
		groups:  groups(cases),
		scripts: make(map[scriptKey][]script),
		weights: make(map[weightKey]float64),
		of:      make([]measured, len(cases)),
	}
	r.measure = r.measureCase
	return r
}

// errNoTime ends the passes when the budget does.
var errNoTime = errors.New("no time left")

// passes measures all cases once in each pass, and then those again that want
// quiet samples.
func (r *runner) passes(ctx context.Context) error {
	for pass := range r.agenda.rounds + r.agenda.spare {
		for _, group := range r.shuffled() {
			for _, i := range group {
				if pass >= r.agenda.rounds && len(r.of[i].quiet) >= r.agenda.rounds {
					continue
				}
				if err := r.step(ctx, i, pass); err == errNoTime {
					return nil
				} else if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// step makes one measurement if there is time for it.
func (r *runner) step(ctx context.Context, i, pass int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	began := r.since()
	// What took long once may do so again.
	if r.o.Budget > 0 && began+r.longest > r.o.Budget {
		return errNoTime
	}
	r.progress(i, began)
	if err := r.measure(i, pass); err != nil {
		return err
	}
	r.done++
	r.longest = max(r.longest, r.since()-began)
	return nil
}

func (r *runner) progress(i int, elapsed time.Duration) {
	if r.o.Progress == nil {
		return
	}
	p := Progress{Case: r.cases[i].Name(), Done: r.done, Total: len(r.cases) * r.agenda.rounds}
	if r.done == 0 {
		p.Left = r.agenda.takes(r.cases)
	} else {
		each := elapsed / time.Duration(r.done)
		p.Left = each * time.Duration(max(p.Total-p.Done, 0))
	}
	if r.o.Budget > 0 {
		p.Left = min(p.Left, r.o.Budget-elapsed)
	}
	r.o.Progress(p)
}

// shuffled returns the groups of cases in a new order, the cases of each in a
// new order, too.
func (r *runner) shuffled() [][]int {
	shuffle(r.groups)
	for _, g := range r.groups {
		shuffle(g)
	}
	return r.groups
}

func shuffle[T any](s []T) { rand.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] }) }

// measureCase makes one measurement.
func (r *runner) measureCase(i, pass int) error {
	c, m := &r.cases[i], &r.of[i]
	if pass == 0 {
		if err := r.weigh(c, m); err != nil {
			return err
		}
	}
	b, err := open(c, r.scriptsOf(c))
	if err != nil {
		return err
	}
	if pass == 0 {
		m.steps = b.fill(r.agenda.round)
		m.latency = b.latency(m.steps)
	} else {
		b.round(warmSteps(m.steps))
	}
	t := b.settled(b.round(m.steps))
	if s, ok := b.c.(Sharer); ok {
		m.shares = s.Shares()
	}
	if err := b.close(); err != nil {
		return err
	}
	r.keep(m, t)
	return nil
}

func (r *runner) weigh(c *Case, m *measured) error {
	key := weightKey{c.Workload, c.Impl.Name, Layout{Stripes: c.Stripes, Pick: c.Pick}}
	bytes, ok := r.weights[key]
	if !ok {
		var err error
		if bytes, err = weigh(c); err != nil {
			return fmt.Errorf("hotcount/bench: weigh %s: %w", c.Name(), err)
		}
		r.weights[key] = bytes
	}
	m.bytes = bytes
	return nil
}

func (r *runner) scriptsOf(c *Case) []script {
	key := scriptKey{c.Keys, c.ReadPercent}
	s, ok := r.scripts[key]
	if !ok {
		s = newScripts(c.Keys, c.ReadPercent, scripts)
		r.scripts[key] = s
	}
	return s
}

// keep takes a round into account.
func (r *runner) keep(m *measured, t timing) {
	r.rounds++
	r.cpu += t.cpu
	r.possible += t.possible
	if t.disturbed() {
		r.disturbed++
		m.disturbed = append(m.disturbed, t.opsPerSecond())
	} else {
		m.quiet = append(m.quiet, t.opsPerSecond())
	}
}

// results returns what there is of each case that has a sample.
func (r *runner) results() []Result {
	var all []Result
	for i := range r.cases {
		m := &r.of[i]
		missing := min(max(r.agenda.rounds-len(m.quiet), 0), len(m.disturbed))
		if len(m.quiet)+missing == 0 {
			continue
		}
		res := r.cases[i].result()
		res.OpsPerSecond = append(m.quiet, m.disturbed[:missing]...)
		res.Disturbed = missing
		res.Latency = m.latency
		res.BytesPerCounter = m.bytes
		res.StripeShares = m.shares
		all = append(all, res)
	}
	return all
}
