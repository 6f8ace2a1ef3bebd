package sim

import (
	"fmt"
	"math/bits"

	"github.com/hotcount/hotcount/stripe"
)

// A Pick is how a worker chooses the line that it adds to.
type Pick uint8

const (
	// OneAtomic is an atomic.Int64: there is one line, and no choice.
	OneAtomic Pick = iota
	// PerP is the line of the processor, as stripe.PerP.
	PerP
	// PerGoroutine is a line drawn once for each worker, as stripe.PerGoroutine.
	PerGoroutine
	// Random is a line drawn for each add, as stripe.Random.
	Random
	// PoolToken is a line drawn once and drawn anew whenever another worker is
	// met there, as counters do that keep tokens in a sync.Pool.
	PoolToken
)

var pickNames = [...]string{"one atomic", "PerP", "PerGoroutine", "Random", "pool token"}

// String returns the rule's name.
func (p Pick) String() string {
	if int(p) < len(pickNames) {
		return pickNames[p]
	}
	return fmt.Sprintf("Pick(%d)", uint8(p))
}

// DefaultAdds is how many adds a run makes where its Config does not say, and
// at least 100 by each worker.
const DefaultAdds = 10_000

// A Config is a machine and what runs on it: workers that add to one counter as
// fast as they can, one on each core.
type Config struct {
	Machine
	// Workers is how many cores add.
	Workers int
	// Stripes is how many lines the counter has, rounded up to a power of two
	// as package stripe does. OneAtomic has one, whatever Stripes says; 0 is
	// one for each worker.
	Stripes int
	Pick    Pick
	// PickCost is what an add takes beside the locked add itself, in
	// nanoseconds: the pick, and the loop around it.
	PickCost float64
	// Migrate is how long a worker runs before it goes on from another core
	// of its socket, in nanoseconds; 0 is for ever.
	Migrate float64
	// Adds is how many adds the run makes.
	Adds int
	// Seed chooses what is left to chance. Runs of equal Configs are equal.
	Seed uint64
}

func (c Config) withDefaults() Config {
	c.Machine = c.Machine.withDefaults()
	if c.Stripes == 0 {
		c.Stripes = c.Workers
	}
	if c.Pick == OneAtomic {
		c.Stripes = 1
	}
	if c.Stripes > 0 {
		c.Stripes = 1 << bits.Len(uint(c.Stripes-1))
	}
	if c.Adds == 0 {
		c.Adds = max(DefaultAdds, 100*c.Workers)
	}
	return c
}

func (c Config) check() error {
	if err := c.Machine.check(); err != nil {
		return err
	}
	if err := checkNanos("PickCost", c.PickCost, true); err != nil {
		return err
	}
	switch {
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return fmt.Errorf("%w: %d workers, not 1 to %d", ErrConfig, c.Workers, MaxWorkers)
	case c.Stripes < 1 || c.Stripes > stripe.MaxStripes:
		return fmt.Errorf("%w: %d stripes, not 1 to %d", ErrConfig, c.Stripes, stripe.MaxStripes)
	case c.Pick > PoolToken:
		return fmt.Errorf("%w: %v", ErrConfig, c.Pick)
	case c.Adds < 1 || c.Adds > MaxAdds:
		return fmt.Errorf("%w: %d adds, not 1 to %d", ErrConfig, c.Adds, MaxAdds)
	case !(c.Migrate >= 0) || c.Migrate > maxMigrate || c.Migrate > 0 && c.Migrate < minMigrate:
		return fmt.Errorf("%w: migration after %v ns, not 0 or %v to %v", ErrConfig, c.Migrate, minMigrate, maxMigrate)
	}
	return nil
}

// Migrations are not more frequent than systems reschedule, nor rarer than any
// run is long.
const (
	minMigrate = 1e3
	maxMigrate = 1e12
)
