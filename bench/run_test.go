package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The times that an agenda plans fit its budget, use most of it, and a budget is
// refused only if the shortest rounds do not fit.
func TestAgenda(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := Plan(Workloads(), 8, Full)
	for range 500 {
		cases := all[:1+rng.IntN(len(all))]
		o := Options{
			Samples: MinSamples + rng.IntN(10),
			Round:   minRound + time.Duration(rng.Int64N(int64(maxRound-minRound))),
			Budget:  time.Duration(1 + rng.Int64N(int64(5*time.Minute))),
		}
		least := agenda{round: minRound, rounds: o.Samples}.takes(cases)
		a, err := newAgenda(cases, o)
		if least > o.Budget {
			assert.ErrorIs(t, err, ErrOptions)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, o.Samples, a.rounds)
		assert.GreaterOrEqual(t, a.round, minRound)
		assert.LessOrEqual(t, a.round, o.Round)
		assert.LessOrEqual(t, a.takes(cases), o.Budget)
		if a.round < o.Round { // a microsecond more for each would be too much
			assert.Greater(t, a.with(a.round+time.Microsecond).takes(cases), o.Budget)
		}
	}
	a, err := newAgenda(all, Options{})
	require.NoError(t, err)
	assert.Equal(t, agenda{round: defaultRound, rounds: defaultSamples, spare: defaultSamples}, a)
}

func TestOptionsRefused(t *testing.T) {
	cases := Plan(Workloads(), 2, Usual)
	for _, o := range []Options{
		{Samples: -1}, {Samples: 5}, {Round: -1}, {Round: 1}, {Round: time.Minute}, {Budget: -1}, {Procs: -1},
		{Budget: time.Second},
	} {
		r, err := Run(t.Context(), cases, o)
		assert.ErrorIs(t, err, ErrOptions, o)
		assert.Nil(t, r)
	}
	_, err := Run(t.Context(), nil, Options{})
	assert.ErrorIs(t, err, ErrOptions)
}

// A fake is a runner whose measurements take the time that cost says.
type fake struct {
	*runner
	clock time.Duration
	order [][]int // by pass
}

func newFake(t *testing.T, cases []Case, o Options, cost func(i, pass int) (took time.Duration, quiet bool)) *fake {
	a, err := newAgenda(cases, o)
	require.NoError(t, err)
	f := &fake{runner: newRunner(cases, a, o), order: make([][]int, a.rounds+a.spare)}
	f.since = func() time.Duration { return f.clock }
	f.measure = func(i, pass int) error {
		f.order[pass] = append(f.order[pass], i)
		took, quiet := cost(i, pass)
		f.clock += took
		timed := timing{ops: 1, wall: took, cpu: took, possible: took}
		if !quiet {
			timed.possible = 2 * took
		}
		f.keep(&f.of[i], timed)
		return nil
	}
	return f
}

// However long measurements take, a run ends in its budget or, at most, late by
// one of them.
func TestBudgetHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	cases := Plan(Workloads(), 4, Usual)
	const budget = 18 * time.Second
	for _, slow := range []time.Duration{1, 2, 5, 20, 100} { // times what is planned
		o := Options{Samples: MinSamples, Budget: budget}
		var f *fake
		var longest time.Duration
		f = newFake(t, cases, o, func(i, pass int) (time.Duration, bool) {
			planned := f.agenda.round + overhead(&cases[i])
			if pass == 0 {
				planned += warmUpRounds * f.agenda.round
			}
			took := time.Duration(rng.Int64N(int64(slow*planned))) + 1
			longest = max(longest, took)
			return took, rng.IntN(3) > 0
		})
		require.NoError(t, f.passes(t.Context()))
		assert.LessOrEqual(t, f.clock, budget+longest)
		for _, r := range f.results() {
			assert.LessOrEqual(t, len(r.OpsPerSecond), 2*MinSamples)
		}
		if slow == 1 {
			assert.Len(t, f.results(), len(cases))
		}
	}
}

// In every pass each case has its turn once, with those of equal conditions
// right before and after it, in an order that changes.
func TestInterleaved(t *testing.T) {
	cases := Plan(Workloads(), 2, Usual)
	f := newFake(t, cases, Options{}, func(int, int) (time.Duration, bool) { return time.Millisecond, true })
	var progress []Progress
	f.o.Progress = func(p Progress) { progress = append(progress, p) }
	require.NoError(t, f.passes(t.Context()))
	for pass, order := range f.order[:f.agenda.rounds] {
		require.Len(t, order, len(cases))
		turns := make([]int, len(cases))
		blocks := make(map[conditions]int)
		for at, i := range order {
			turns[i]++
			if key := cases[i].conditions(); at == 0 || cases[order[at-1]].conditions() != key {
				blocks[key]++
			}
		}
		for i := range cases {
			assert.Equal(t, 1, turns[i])
			assert.Equal(t, 1, blocks[cases[i].conditions()])
		}
		if pass > 0 {
			assert.NotEqual(t, f.order[pass-1], order)
		}
	}
	for _, order := range f.order[f.agenda.rounds:] {
		assert.Empty(t, order, "no round was disturbed")
	}
	require.Len(t, progress, len(cases)*f.agenda.rounds)
	assert.Equal(t, len(progress), progress[0].Total)
	for i, p := range progress[1:] {
		assert.Equal(t, i+1, p.Done)
		assert.Equal(t, time.Duration(len(progress)-p.Done)*time.Millisecond, p.Left)
	}
}

// Disturbed rounds are made again, and count only where there are too few quiet
// ones.
func TestDisturbedRounds(t *testing.T) {
	cases := Plan(Workloads(), 2, Usual)[:4]
	f := newFake(t, cases, Options{Samples: 6}, func(i, pass int) (time.Duration, bool) {
		return time.Duration(pass+1) * time.Millisecond, i == 0 || i == 1 && pass%2 == 0 || i == 2 && pass == 5
	})
	require.NoError(t, f.passes(t.Context()))
	speeds := func(passes ...int) (all []float64) {
		for _, p := range passes {
			all = append(all, 1000/float64(p+1))
		}
		return all
	}
	for i, want := range []struct {
		passes    []int
		disturbed int
	}{
		{[]int{0, 1, 2, 3, 4, 5}, 0},
		{[]int{0, 2, 4, 6, 8, 10}, 0},
		{[]int{5, 0, 1, 2, 3, 4}, 5},
		{[]int{0, 1, 2, 3, 4, 5}, 6},
	} {
		r := f.results()[i]
		assert.InDeltaSlice(t, speeds(want.passes...), r.OpsPerSecond, 1e-9, i)
		assert.Equal(t, want.disturbed, r.Disturbed)
	}
	n := f.noise(system{}, system{})
	assert.Equal(t, float64(f.disturbed)/float64(f.rounds), n.Disturbed)
	assert.Positive(t, n.Busy)
	assert.EqualValues(t, unknown, n.Steal)
}

// What was measured before an interrupt is kept.
func TestInterrupted(t *testing.T) {
	stopped := errors.New("interrupted")
	cases := Plan(Workloads(), 2, Usual)
	for _, at := range []int{0, 1, len(cases), 3*len(cases) + 5} {
		ctx, cancel := context.WithCancelCause(t.Context())
		f := newFake(t, cases, Options{}, func(int, int) (time.Duration, bool) { return 1, true })
		f.o.Progress = func(p Progress) {
			if p.Done >= at {
				cancel(stopped)
			}
		}
		assert.ErrorIs(t, f.passes(ctx), stopped)
		assert.Equal(t, at+1, f.done)
		assert.Len(t, f.results(), min(at+1, len(cases)))
	}
}

// A short run of everything, from the plan to the report.
func TestRun(t *testing.T) {
	var cases []Case
	of := make(map[string]int)
	for _, c := range Plan(Workloads(), 2, Usual) {
		if what := c.Workload + c.Impl.Name + c.Pick.String(); of[what] == 0 {
			of[what]++
			cases = append(cases, c)
		}
	}
	procs := runtime.GOMAXPROCS(0)
	r, err := Run(t.Context(), cases, Options{Samples: MinSamples, Round: minRound, Procs: 2})
	require.NoError(t, err)
	assert.Equal(t, procs, runtime.GOMAXPROCS(0))
	assert.Equal(t, 2, r.Machine.Procs)
	require.NoError(t, r.validate())
	require.Len(t, r.Results, len(cases))
	for i, res := range r.Results {
		assert.Equal(t, cases[i].Name(), res.Name())
		assert.Len(t, res.OpsPerSecond, MinSamples)
		assert.NotNil(t, res.Latency)
		assert.Equal(t, res.BytesPerCounter > 0, cases[i].weighs != nil)
		if cases[i].Stripes > 0 {
			require.Len(t, res.StripeShares, cases[i].Stripes)
			var sum float64
			for _, share := range res.StripeShares {
				sum += share
			}
			assert.InDelta(t, 1, sum, 1e-9)
		}
	}
}

// A run that finds a wrong count fails, and says where.
func TestRunFindsLoss(t *testing.T) {
	w := Workload{Name: "add", Impls: []Impl{lossy}, Keys: []Keys{One}}
	_, err := Run(t.Context(), Plan([]Workload{w}, 1, Usual), Options{Samples: MinSamples, Round: minRound})
	assert.ErrorIs(t, err, ErrCount)
	assert.ErrorContains(t, err, "add/impl=lossy/goroutines=")

	broken := errors.New("no memory")
	w.Impls[0].New = func(Layout) (Counters, error) { return nil, broken }
	_, err = Run(t.Context(), Plan([]Workload{w}, 1, Usual), Options{})
	assert.ErrorIs(t, err, broken)
}

// A machine that is too slow for the budget gives what there is time for.
func TestBusyMachine(t *testing.T) {
	slow := Impl{Name: "slow", New: func(l Layout) (Counters, error) {
		for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
			runtime.Gosched()
		}
		return newStriped(l)
	}}
	w := Workload{Name: "add", Impls: []Impl{slow}, Keys: []Keys{One}}
	r, err := Run(t.Context(), Plan([]Workload{w}, 1, Usual), Options{Samples: MinSamples, Budget: 300 * time.Millisecond})
	require.NoError(t, err)
	require.Len(t, r.Results, 1)
	assert.Len(t, r.Results[0].OpsPerSecond, 1)
	assert.Contains(t, r.Caveats(), "Some results have fewer than 6 samples.")
}
