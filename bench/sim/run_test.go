package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine is of no particular make.
var machine = Machine{Add: 5, Transfer: 60}

func mustRun(t *testing.T, c Config) Result {
	t.Helper()
	r, err := Run(c)
	require.NoError(t, err)
	return r
}

// layouts are Configs of every kind.
func layouts() []Config {
	var all []Config
	for pick := OneAtomic; pick <= PoolToken; pick++ {
		for _, workers := range []int{1, 2, 7, 48} {
			for _, stripes := range []int{0, 1, 5} {
				for _, migrate := range []float64{0, 2000} {
					all = append(all, Config{
						Machine: Machine{Add: 5, Transfer: 60, Cross: 150, Sockets: 1 + workers%3},
						Workers: workers, Stripes: stripes, Pick: pick, PickCost: 4, Migrate: migrate,
						Adds: 1000, Seed: uint64(len(all)),
					})
				}
			}
		}
	}
	return all
}

// Every add is one worker's and one line's, none is made twice, and the time they
// take is not less than that of the adds themselves.
func TestConservation(t *testing.T) {
	for _, c := range layouts() {
		r := mustRun(t, c)
		name := fmt.Sprintf("%+v", c)
		require.EqualValues(t, c.Adds, sum(r.Workers), name)
		require.EqualValues(t, c.Adds, sum(r.Lines), name)
		require.EqualValues(t, c.Adds, r.Adds, name)
		require.LessOrEqual(t, r.PerSecond(), 1.02*float64(c.Workers)*1e9/(c.Add+c.PickCost), name)
		require.GreaterOrEqual(t, r.PerSecond(), 1e9/(c.Add+c.PickCost+2*c.Cross), name)
	}
}

func sum(all []int64) (total int64) {
	for _, n := range all {
		total += n
	}
	return total
}

// Equal Configs give equal Results, and nothing but the seed changes one.
func TestDeterminism(t *testing.T) {
	for _, c := range layouts() {
		require.Equal(t, mustRun(t, c), mustRun(t, c), "%+v", c)
	}
	c := Config{Machine: machine, Workers: 8, Pick: Random}
	other := c
	other.Seed++
	assert.NotEqual(t, mustRun(t, c), mustRun(t, other))
}

// A worker alone takes what its add and its pick cost, whatever the layout: it
// owns all lines.
func TestAlone(t *testing.T) {
	for pick := OneAtomic; pick <= PoolToken; pick++ {
		r := mustRun(t, Config{Machine: machine, Workers: 1, Stripes: 8, Pick: pick, PickCost: 7})
		assert.InEpsilon(t, 12, r.NanosPerAdd(), 0.01, pick)
		assert.Zero(t, r.Transfers, pick)
	}
}

// With many cores a single line is always on its way or being added to, so that
// an add takes a handover and itself, however many cores there are.
func TestOneLineConverges(t *testing.T) {
	want := 1e9 / (machine.Handover() + machine.Add)
	for _, workers := range []int{16, 48, 192} {
		for _, pick := range []Pick{OneAtomic, PerP, PerGoroutine, Random, PoolToken} {
			r := mustRun(t, Config{Machine: machine, Workers: workers, Stripes: 1, Pick: pick, PickCost: 3})
			assert.InEpsilon(t, want, r.PerSecond(), 0.03, "%v, %d workers", pick, workers)
		}
	}
}

// The dumb oracle for few workers on one line: time in steps of a tenth of a
// nanosecond, and everybody looks whether something is due. It shares no code
// and no luck with the model.
func TestOneLineOracle(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 8} {
		for _, m := range []Machine{{Add: 3, Transfer: 100}, {Add: 5, Transfer: 20}, {Add: 7, Transfer: 40}} {
			for _, think := range []float64{0, 9, 30} {
				r := mustRun(t, Config{Machine: m, Workers: workers, PickCost: think})
				want := stepped(m, workers, think)
				assert.InEpsilon(t, want, r.NanosPerAdd(), 0.08, "%+v, %d workers, think %v", m, workers, think)
			}
		}
	}
}

// With a line for each core nothing is ever transferred, and adds per second are
// in proportion to the cores.
func TestPerPScales(t *testing.T) {
	one := mustRun(t, Config{Machine: machine, Workers: 1, Pick: PerP, PickCost: 7}).PerSecond()
	for _, workers := range []int{2, 5, 16, 48, 96, 192} {
		for _, stripes := range []int{0, workers, 2 * workers} {
			r := mustRun(t, Config{Machine: machine, Workers: workers, Stripes: stripes, Pick: PerP, PickCost: 7})
			assert.InEpsilon(t, float64(workers)*one, r.PerSecond(), 0.02, "%d workers, %d stripes", workers, stripes)
			assert.Zero(t, r.Transfers)
		}
	}
}

// More lines never make PerP slower, beyond what jitter does.
func TestPerPMonotoneInStripes(t *testing.T) {
	for _, workers := range []int{2, 6, 24, 96} {
		before := 0.0
		for stripes := 1; stripes <= 2*workers; stripes *= 2 {
			now := mustRun(t, Config{Machine: machine, Workers: workers, Stripes: stripes, Pick: PerP, PickCost: 7}).PerSecond()
			assert.GreaterOrEqual(t, now, 0.98*before, "%d workers, %d stripes", workers, stripes)
			before = now
		}
	}
}

// Random over a few lines is slower than one atomic at two cores: each add finds
// its line at the other core half of the time, and gains no batch.
func TestRandomLosesToOneAtomic(t *testing.T) {
	one := mustRun(t, Config{Machine: machine, Workers: 2}).PerSecond()
	for _, stripes := range []int{2, 4, 8} {
		r := mustRun(t, Config{Machine: machine, Workers: 2, Stripes: stripes, Pick: Random})
		assert.Less(t, r.PerSecond(), one, stripes)
		assert.InDelta(t, 0.5, float64(r.Transfers)/float64(r.Adds), 0.1, stripes)
	}
}

// Cores on more sockets, with all else equal, are never faster.
func TestSocketsNeverFaster(t *testing.T) {
	for pick := OneAtomic; pick <= PoolToken; pick++ {
		for _, stripes := range []int{1, 8, 0} {
			before := math.Inf(1)
			for _, sockets := range []int{1, 2, 4, 8} {
				c := Config{Machine: machine, Workers: 48, Stripes: stripes, Pick: pick, PickCost: 7}
				c.Sockets, c.Cross = sockets, 3*machine.Transfer
				now := mustRun(t, c).PerSecond()
				assert.LessOrEqual(t, now, 1.03*before, "%v, %d stripes, %d sockets", pick, stripes, sockets)
				before = now
			}
		}
	}
}

// A worker that moves to another core leaves its line behind and fetches it once
// for each move.
func TestMigration(t *testing.T) {
	before := 0.0
	for _, every := range []float64{0, 30_000, 10_000, 1000} {
		r := mustRun(t, Config{Machine: machine, Workers: 8, Pick: PerP, PickCost: 5, Migrate: every, Adds: 80_000})
		assert.GreaterOrEqual(t, r.NanosPerAdd(), 0.999*before, every)
		before = r.NanosPerAdd()
		if every > 0 {
			moves := r.Nanos * 8 / every
			assert.InDelta(t, moves, float64(r.Transfers), 0.15*moves+8, every)
		}
	}
}

// Tokens that meet look for another line until each has its own.
func TestPoolTokensSettle(t *testing.T) {
	r := mustRun(t, Config{Machine: machine, Workers: 64, Pick: PoolToken, PickCost: 20, Adds: 100_000})
	assert.InEpsilon(t, 25, r.NanosPerAdd(), 0.03)
	assert.GreaterOrEqual(t, r.Used(), 64)
}

func TestBadConfigs(t *testing.T) {
	good := Config{Machine: machine, Workers: 2}
	for name, break_ := range map[string]func(*Config){
		"no add":           func(c *Config) { c.Add = 0 },
		"negative add":     func(c *Config) { c.Add = -1 },
		"add is NaN":       func(c *Config) { c.Add = math.NaN() },
		"endless transfer": func(c *Config) { c.Transfer = math.Inf(1) },
		"cross too quick":  func(c *Config) { c.Cross = 1 },
		"sockets":          func(c *Config) { c.Sockets = MaxSockets + 1 },
		"no workers":       func(c *Config) { c.Workers = 0 },
		"workers":          func(c *Config) { c.Workers = MaxWorkers + 1 },
		"stripes":          func(c *Config) { c.Pick, c.Stripes = PerP, 1<<20 },
		"negative stripes": func(c *Config) { c.Pick, c.Stripes = PerP, -1 },
		"pick":             func(c *Config) { c.Pick = PoolToken + 1 },
		"pick cost":        func(c *Config) { c.PickCost = math.NaN() },
		"adds":             func(c *Config) { c.Adds = -1 },
		"migration":        func(c *Config) { c.Migrate = 1 },
		"no migration":     func(c *Config) { c.Migrate = math.NaN() },
	} {
		c := good
		break_(&c)
		_, err := Run(c)
		assert.ErrorIs(t, err, ErrConfig, name)
	}
}
