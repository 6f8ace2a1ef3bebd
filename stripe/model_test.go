//go:build hotcount_model

package stripe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The model check runs the real code of Counter, Max and Min, with word and
// tablePtr replaced by twins, through every interleaving of a few goroutines.
//
// Each goroutine of a scenario is a coroutine that stops before each operation
// on shared memory. A schedule is the list of who goes next; a depth-first
// search runs all schedules, each from the start. Two schedules that lead to
// the same memory and the same results so far in each goroutine have the same
// future, as code between operations depends on nothing else, so the search
// goes on from the first of them only.

// scenario is what runs, made new for each schedule.
type scenario struct {
	memory  []*striped           // what the state of is to be told apart
	threads []func(log *history) // one a goroutine; results it cares for go to log
	check   func(logs []*history) error
}

// history is what one goroutine saw: the result of each of its operations, and
// what it noted for the check at the end.
type history struct {
	ops   []int64
	noted []int64
	end   bool
}

func (h *history) note(v int64) { h.noted = append(h.noted, v) }

// world is one run of a scenario.
type world struct {
	s      scenario
	logs   []*history
	next   []func() (struct{}, bool)
	stop   []func()
	now    int // the goroutine that runs
	tables []*table
}

func start(s scenario) *world {
	w := &world{s: s}
	tableID = w.id
	procPin = func() int { return w.now }
	for i, body := range s.threads {
		h := new(history)
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			op = w.op(h, yield)
			defer func() {
				if r := recover(); r != nil && r != errStopped {
					panic(r)
				}
				h.end = true
			}()
			body(h)
		})
		w.logs = append(w.logs, h)
		w.next = append(w.next, next)
		w.stop = append(w.stop, stop)
		w.run(i)
	}
	return w
}

var errStopped = errors.New("the schedule is of no further interest")

// op returns the op of one goroutine: stop, let the scheduler choose, go on.
func (w *world) op(h *history, yield func(struct{}) bool) func(func() int64) int64 {
	return func(do func() int64) int64 {
		self := op
		if !yield(struct{}{}) {
			panic(errStopped)
		}
		op = self
		v := do()
		h.ops = append(h.ops, v)
		return v
	}
}

// run lets goroutine i run up to its next operation.
func (w *world) run(i int) {
	w.now = i
	w.next[i]()
}

// id numbers the tables in the order in which operations meet them.
func (w *world) id(t *table) int64 {
	if t == nil {
		return 0
	}
	for i, known := range w.tables {
		if t == known {
			return int64(i + 1)
		}
	}
	w.tables = append(w.tables, t)
	return int64(len(w.tables))
}

// close ends the coroutines that have not ended.
func (w *world) close() {
	for _, stop := range w.stop {
		stop()
	}
}

// direct is the op of code that no scheduler interrupts.
func direct(do func() int64) int64 { return do() }

// key is the state: all memory, and what each goroutine saw.
func (w *world) key() string {
	var b []byte
	for _, m := range w.s.memory {
		b = binary.AppendVarint(b, m.base.n)
		b = binary.AppendVarint(b, w.id(m.hot.t))
	}
	for _, t := range w.tables {
		for i := range t.cells {
			b = binary.AppendVarint(b, t.cells[i].n.n)
		}
	}
	for _, h := range w.logs {
		b = binary.AppendVarint(b, int64(len(h.ops)))
		for _, v := range h.ops {
			b = binary.AppendVarint(b, v)
		}
	}
	return string(b)
}

// explore runs every schedule of the scenario and returns the first error of
// its check, with how many states and complete schedules there are.
func explore(makeScenario func() scenario) (states, ends int, err error) {
	seen := map[string]bool{}
	work := [][]int{nil}
	for len(work) > 0 && err == nil {
		path := work[len(work)-1]
		work = work[:len(work)-1]
		w := start(makeScenario())
		for _, i := range path {
			w.run(i)
		}
		for !seen[w.key()] {
			seen[w.key()] = true
			first := -1
			for i, h := range w.logs {
				switch {
				case h.end:
				case first < 0:
					first = i
				default:
					work = append(work, append(path[:len(path):len(path)], i))
				}
			}
			if first < 0 {
				ends++
				op = direct
				if err = w.s.check(w.logs); err != nil {
					err = fmt.Errorf("schedule %v: %w", path, err)
				}
				break
			}
			path = append(path[:len(path):len(path)], first)
			w.run(first)
		}
		w.close()
	}
	return len(seen), ends, err
}

// add is a way to add to a counter: Add, or one that is broken.
type add func(c *Counter, n int64)

// counting is writers that make adds adds each, the n-th of value 1, 2, 4 and
// so on so that no two sums are the same, readers that read twice (once beside
// drainers, when a second read may be anything), and drainers. A reader notes
// how much had been counted when it began.
func counting(add add, drain func(*Counter) int64, writers, adds, readers, drainers int) func() scenario {
	return func() scenario {
		var (
			c     Counter
			s     = scenario{memory: []*striped{&c.striped}}
			added int64
			total = int64(1)<<(writers*adds) - 1
		)
		for i := range writers {
			s.threads = append(s.threads, func(*history) {
				for j := range adds {
					n := int64(1) << (i*adds + j)
					add(&c, n)
					added += n
				}
			})
		}
		for range readers {
			s.threads = append(s.threads, func(h *history) {
				for range 2 - min(drainers, 1) {
					h.note(op(func() int64 { return added }))
					h.note(c.Value())
				}
			})
		}
		for range drainers {
			s.threads = append(s.threads, func(h *history) { h.note(drain(&c)) })
		}
		s.check = func(logs []*history) error {
			drained := int64(0)
			for _, h := range logs[writers+readers:] {
				drained += h.noted[0]
			}
			if got := drained + c.Value(); got != total {
				return fmt.Errorf("%d drained and left of %d added", got, total)
			}
			for _, h := range logs[writers : writers+readers] {
				if err := readable(h.noted, total, drainers > 0); err != nil {
					return err
				}
			}
			return nil
		}
		return s
	}
}

// readable says what a reader may see: never more than there is; without
// drainers, all that was counted when it began, and never less than before.
func readable(noted []int64, total int64, drained bool) error {
	last := int64(0)
	for i := 0; i < len(noted); i += 2 {
		before, v := noted[i], noted[i+1]
		switch {
		case v > total:
			return fmt.Errorf("read %d of %d", v, total)
		case !drained && v < before:
			return fmt.Errorf("read %d when %d had been counted", v, before)
		case !drained && v < last:
			return fmt.Errorf("read %d after %d", v, last)
		}
		last = v
	}
	return nil
}

func TestModelCounter(t *testing.T) {
	for _, m := range []struct{ writers, adds, readers, drainers int }{
		{2, 2, 1, 0},
		{2, 2, 0, 1},
		{2, 1, 0, 2},
		{2, 1, 1, 1},
		{3, 1, 0, 0},
		{3, 1, 1, 0},
		{3, 1, 0, 1},
	} {
		if testing.Short() && m.writers+m.readers+m.drainers > 3 {
			continue
		}
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) {
			states, ends, err := explore(counting((*Counter).Add, (*Counter).Drain, m.writers, m.adds, m.readers, m.drainers))
			require.NoError(t, err)
			t.Logf("%d states, %d ends", states, ends)
			assert.Greater(t, ends, 1)
		})
	}
}

// TestModelFindsMutants is the test of the test: each mutant breaks one of the
// numbered sentences of counter.go, and some interleaving must show it.
func TestModelFindsMutants(t *testing.T) {
	// lost is a writer that found contention before its add was counted. It
	// takes the table that it is to write to from goHot.
	lost := func(goHot func(c *Counter, n int64)) add {
		return func(c *Counter, n int64) {
			if c.hot.Load() == nil {
				if b := c.base.Load(); !c.base.CompareAndSwap(b, b+n) {
					goHot(c, n)
				}
				return
			}
			c.addHot(n)
		}
	}
	swappedPublish := lost(func(c *Counter, n int64) {
		table := newTable(2, Auto)
		table.slot().Add(n)
		c.hot.CompareAndSwap(nil, table)
	})
	storedPublish := lost(func(c *Counter, n int64) {
		if c.hot.Load() == nil {
			c.hot.Store(newTable(2, Auto))
		}
		c.addHot(n)
	})
	moved := func(c *Counter, n int64) {
		c.Add(n)
		if t := c.hot.Load(); t != nil {
			t.slot().Add(c.base.Swap(0))
		}
	}
	storedDrain := func(c *Counter) (sum int64) {
		for w := range c.cells {
			sum += w.Load()
			w.Store(0)
		}
		return sum
	}
	_, _, err := explore(counting(lost(func(c *Counter, n int64) { c.addHot(n) }), (*Counter).Drain, 3, 1, 0, 1))
	require.NoError(t, err, "the right order: publish first, write second")
	for name, scenario := range map[string]func() scenario{
		"written before published":      counting(swappedPublish, (*Counter).Drain, 3, 1, 0, 0),
		"published without a compare":   counting(storedPublish, (*Counter).Drain, 3, 1, 0, 0),
		"moved to a stripe when hot":    counting(moved, (*Counter).Drain, 2, 2, 1, 0),
		"drained by a load and a store": counting((*Counter).Add, storedDrain, 2, 1, 0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := explore(scenario)
			require.Error(t, err)
			t.Log(err)
		})
	}
}

// raising is observers of a Max and one that drains it twice.
func raising(raise func(*extreme, uint64), observers int) func() scenario {
	return func() scenario {
		var (
			m Max
			s = scenario{memory: []*striped{&m.e.striped}}
		)
		for i := range observers {
			s.threads = append(s.threads, func(*history) { raise(&m.e, rank(int64(observers-i), up)) })
		}
		s.threads = append(s.threads, func(h *history) {
			for range 2 {
				v, _ := m.Drain()
				h.note(v)
			}
		})
		s.check = func(logs []*history) error {
			top, _ := m.Value()
			for _, v := range logs[observers].noted {
				top = max(top, v)
			}
			if top != int64(observers) {
				return fmt.Errorf("largest drained or left is %d, observed %d", top, observers)
			}
			return nil
		}
		return s
	}
}

func TestModelMax(t *testing.T) {
	states, ends, err := explore(raising((*extreme).raise, 3))
	require.NoError(t, err)
	t.Logf("%d states, %d ends", states, ends)

	swapped := func(e *extreme, r uint64) {
		if e.hot.Load() != nil || e.base.CompareAndSwap(0, int64(r)) {
			return
		}
		table := newTable(2, Auto)
		table.slot().Store(int64(r))
		e.hot.CompareAndSwap(nil, table)
	}
	_, _, err = explore(raising(swapped, 3))
	require.Error(t, err)
}
