package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every implementation of every workload holds what was added to it, by one
// goroutine, by several and by many, with every choice of keys and reads.
func TestWorkloadsConserve(t *testing.T) {
	for _, w := range Workloads() {
		// The layouts of a striped counter times all else would be too many.
		extent := Full
		if slices.ContainsFunc(w.Impls, func(i Impl) bool { return i.Striped }) {
			extent = Usual
		}
		cases := Plan([]Workload{w}, 3, extent)
		require.NotEmpty(t, cases)
		for _, c := range cases {
			assert.NoError(t, Check(c, 1+scriptLen*3/c.Goroutines))
		}
	}
}

// An implementation that loses a count is found out.
func TestLossIsFound(t *testing.T) {
	for _, k := range []Keys{One, Uniform} {
		err := Check(Case{Workload: "add", Impl: lossy, Goroutines: 2, Keys: k}, 100)
		assert.ErrorIs(t, err, ErrCount)
		assert.ErrorContains(t, err, "add/impl=lossy/goroutines=2")
	}
}

// lossy forgets every hundredth add of a goroutine's round.
var lossy = Impl{Name: "lossy", New: func(l Layout) (Counters, error) {
	c, err := newStriped(l)
	return forgetful{c.(adaptive)}, err
}}

type forgetful struct{ adaptive }

func (f forgetful) Incs(n int)       { f.adaptive.Incs(n - n/100) }
func (f forgetful) Run(steps []Step) { f.adaptive.Run(steps[:len(steps)-len(steps)/100]) }

// recorder counts the steps that it is given.
type recorder struct{ adds, reads []int64 }

func (r *recorder) Run(steps []Step) {
	for _, s := range steps {
		if s.Read() {
			r.reads[s.Key()]++
		} else {
			r.adds[s.Key()]++
		}
	}
}

// The tally of a script is what running it adds, in one piece or in many.
func TestTally(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []Keys{One, Zipf, Uniform} {
		for _, percent := range []int{0, 10, 100} {
			for i, s := range newScripts(k, percent, 4) {
				n := rng.IntN(5 * scriptLen)
				whole := recorder{make([]int64, KeyCount), make([]int64, KeyCount)}
				s.run(0, n, &whole)
				parts := recorder{make([]int64, KeyCount), make([]int64, KeyCount)}
				for from := 0; from < n; {
					to := min(n, from+rng.IntN(3000))
					s.run(from, to, &parts)
					from = to
				}
				tally := make([]int64, KeyCount)
				s.tally(n, 1, tally)
				assert.Equal(t, whole, parts, i)
				assert.Equal(t, tally, whole.adds, i)
				if percent == 100 {
					assert.Equal(t, make([]int64, KeyCount), tally)
				}
			}
		}
	}
}

// Keys are spread as they say.
func TestKeys(t *testing.T) {
	r := recorder{make([]int64, KeyCount), make([]int64, KeyCount)}
	for _, s := range newScripts(Zipf, 10, scripts) {
		r.Run(s)
	}
	const all = scripts * scriptLen
	var adds int64
	for _, n := range r.adds {
		adds += n
	}
	assert.InDelta(t, 0.9*all, adds, 0.01*all)
	assert.InDelta(t, all/6.2, r.adds[0]+r.reads[0], all/50)
	assert.InDelta(t, all/6.2/2.14, r.adds[1]+r.reads[1], all/50)

	r = recorder{make([]int64, KeyCount), make([]int64, KeyCount)}
	for _, s := range newScripts(Uniform, 0, scripts) {
		r.Run(s)
	}
	for key, n := range r.adds {
		assert.InDelta(t, all/KeyCount, n, 80, key) // 7 standard deviations
	}
}

// Percentiles against the definition: the smallest sample such that the part of
// samples that do not exceed it is q at least.
func TestPercentiles(t *testing.T) {
	assert.Nil(t, percentiles(nil, 0))
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 3000; n = n*3/2 + 1 {
		took := make([]time.Duration, n)
		for i := range took {
			took[i] = time.Duration(20 + rng.IntN(500))
		}
		const clock = 30
		oracle := func(q float64) float64 {
			best := time.Duration(1 << 40)
			for _, candidate := range took {
				within := 0
				for _, v := range took {
					if v <= candidate {
						within++
					}
				}
				if float64(within) >= q*float64(n) {
					best = min(best, candidate)
				}
			}
			return float64(max(best-clock, 0))
		}
		want := &Percentiles{n, clock, oracle(0.5), oracle(0.9), oracle(0.99), oracle(0.999), oracle(1)}
		assert.Equal(t, want, percentiles(slices.Clone(took), clock))
		assert.NoError(t, want.validate())
	}
}

// A bout of many steps is sampled once in latencyGap, at different steps.
func TestLatencySamples(t *testing.T) {
	c := Case{Workload: "add", Impl: counterImpls()[0], Goroutines: 3, Keys: Uniform}
	b, err := open(&c, newScripts(Uniform, 0, 3))
	require.NoError(t, err)
	p := b.latency(100 * latencyGap)
	assert.Equal(t, 300, p.Samples)
	assert.NoError(t, b.close())
}

// The memory of a counter is that of its type.
func TestWeigh(t *testing.T) {
	for _, w := range Workloads() {
		for _, c := range Plan([]Workload{w}, 2, Usual) {
			bytes, err := weigh(&c)
			require.NoError(t, err)
			switch {
			case w.Name == "add" && c.Impl.Name == "atomic":
				assert.InDelta(t, 8, bytes, 4)
			case w.Name == "add" && c.Impl.Name == "hotcount" && c.Stripes == 0:
				assert.InDelta(t, 16, bytes, 4)
			case c.Stripes > 0:
				assert.Greater(t, bytes, float64(64*c.Stripes))
			case w.Weighs == nil:
				assert.Zero(t, bytes)
			default:
				assert.Positive(t, bytes, c.Name())
			}
		}
	}
}

func TestCPU(t *testing.T) {
	assert.Equal(t, "AMD EPYC 7B13", cpuinfoModel([]byte("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13\n")))
	assert.Equal(t, "Raspberry Pi 4", cpuinfoModel([]byte("processor : 0\nCPU part : 0xd08\n\nModel : Raspberry Pi 4\n")))
	assert.Empty(t, cpuinfoModel(nil))
	m := ThisMachine()
	assert.NoError(t, (&Report{Machine: m, Samples: 1}).validate())
}

func TestParseStat(t *testing.T) {
	assert.Equal(t, system{all: 36, steal: 8, known: true}, parseStat("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1\n"))
	for _, bad := range []string{"", "cpu", "cpu 1 2 3 4 5 6 7", "cpu 1 2 3 4 x 6 7 8 9", "cpu 1 2 3 4 -5 6 7 8 9", "intr 1 2 3 4 5 6 7 8 9"} {
		assert.Zero(t, parseStat(bad), bad)
	}
}
