package bench

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A bout is goroutines that begin together and make as many steps each.
type bout struct {
	c          Counters
	scripts    []script
	goroutines int
	incs       bool // all steps are adds to the first counter
	workers    int  // goroutines that work beside those
}

// A timing is what a bout took.
type timing struct {
	ops  int
	wall time.Duration
	// cpu is the processor time of the process, and possible what its
	// goroutines could have used. Both are 0 where it cannot be measured.
	cpu, possible time.Duration
}

// settle is how long threads take to go to sleep when there is nothing to do. A
// kernel accounts for a thread that runs when it asks for the time itself, when
// it stops running, and else only some hundred times a second: too seldom for a
// round.
const settle = 200 * time.Microsecond

// undisturbed is the part of the possible processor time that a round must have
// had to count as quiet.
const undisturbed = 0.95

func (t timing) disturbed() bool { return float64(t.cpu) < undisturbed*float64(t.possible) }

func (t timing) opsPerSecond() float64 { return float64(t.ops) / t.wall.Seconds() }

// run makes n steps on each goroutine, and times from when all are ready until
// the last one has ended. work is what each does. The processor time is known
// only after settled.
func (b *bout) run(n int, work func(g int, c OwnCounters)) timing {
	var (
		t       = timing{ops: n * b.goroutines}
		gate    = newGate(b.goroutines)
		running atomic.Int64
		done    sync.WaitGroup
		began   time.Time
	)
	running.Store(int64(b.goroutines))
	for g := range b.goroutines {
		done.Go(func() {
			c := b.own()
			processorTime() // accounts for this thread up to now; see settle
			gate.pass(func() { began, t.cpu = time.Now(), -processorTime() })
			work(g, c)
			c.Close()
			if running.Add(-1) == 0 {
				t.wall = time.Since(began)
			}
		})
	}
	done.Wait()
	return t
}

// settled completes what is known of a bout that has just ended.
func (b *bout) settled(t timing) timing {
	time.Sleep(settle)
	if used := processorTime(); used > 0 {
		t.cpu += used
		t.possible = t.wall * time.Duration(min(b.goroutines+b.workers, runtime.GOMAXPROCS(0)))
	}
	return t
}

// steps is the work of a round: the first n steps of the goroutine's script.
func (b *bout) steps(n int) func(g int, c OwnCounters) {
	if b.incs {
		return func(_ int, c OwnCounters) { c.Incs(n) }
	}
	return func(g int, c OwnCounters) { b.scripts[g%len(b.scripts)].run(0, n, c) }
}

// own returns what one goroutine works on.
func (b *bout) own() OwnCounters {
	if o, ok := b.c.(Owner); ok {
		return o.Own()
	}
	return shared{b.c}
}

// shared are counters that no goroutine owns, so that none closes them.
type shared struct{ Counters }

func (shared) Close() {}

// tally adds what n steps of each goroutine have added to each key.
func (b *bout) tally(n int, adds []int64) {
	for i, s := range b.scripts {
		// Goroutines i, i+len(scripts), … have this one.
		if users := (b.goroutines - i + len(b.scripts) - 1) / len(b.scripts); users > 0 {
			s.tally(n, int64(users), adds)
		}
	}
}

// A bench is the counters of one case, and what was added to them.
type bench struct {
	bout
	name string
	adds []int64
}

// open makes the counters of a case anew.
func open(c *Case, scripts []script) (*bench, error) {
	runtime.GC() // none is due soon then, but for what the work allocates
	l := c.layout()
	made, err := c.Impl.New(l)
	if err != nil {
		return nil, fmt.Errorf("hotcount/bench: make %s: %w", c.Name(), err)
	}
	b := &bench{
		bout: bout{
			c: made, scripts: scripts, goroutines: c.Goroutines,
			incs: c.Keys == One && c.ReadPercent == 0,
		},
		name: c.Name(),
		adds: make([]int64, l.Keys),
	}
	if w, ok := made.(Worker); ok {
		b.workers = w.Workers()
	}
	return b, nil
}

// round makes n steps on each goroutine.
func (b *bench) round(n int) timing {
	t := b.run(n, b.steps(n))
	b.tally(n, b.adds)
	return t
}

// close verifies the counts.
func (b *bench) close() error {
	err := b.c.Verify(b.adds)
	if w, ok := b.c.(Worker); ok {
		w.Close()
	}
	if err != nil {
		return fmt.Errorf("%w in %s", err, b.name)
	}
	return nil
}

// Check does the work of a case once, n steps on each goroutine and the same again
// with some of them timed, and returns an error that wraps ErrCount if a count is
// wrong afterwards.
func Check(c Case, n int) error {
	b, err := open(&c, newScripts(c.Keys, c.ReadPercent, c.Goroutines))
	if err != nil {
		return err
	}
	b.round(n)
	b.latency(n)
	return b.close()
}

const (
	leastSteps = 16 // of a goroutine
	mostSteps  = 1 << 30

	// fillTries is how often a time must repeat before it is taken for that of
	// the work, and not of somebody else's on a busy machine.
	fillTries = 2
)

// fill returns how many steps of each goroutine fill a round: it makes them more
// until they take a good part of one.
func (b *bench) fill(round time.Duration) int {
	for n := leastSteps; ; n *= 4 {
		wall := b.round(n).wall
		for tries := 1; wall >= round/4 && tries < fillTries; tries++ {
			wall = min(wall, b.round(n).wall)
		}
		if wall < round/4 && n < mostSteps {
			continue
		}
		fit := float64(n) * float64(round) / float64(max(wall, 1))
		return int(min(max(fit, leastSteps), mostSteps))
	}
}

// warmSteps is what goroutines do before they are timed, since an implementation
// may do something once: 1/16 of a round, but no more than it takes.
func warmSteps(n int) int { return min(max(n/16, leastSteps), 1000) }
