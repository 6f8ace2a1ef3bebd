package sim

import "math/rand/v2"

// # Inside
//
// A line is at one core at a time. Who wants it and does not have it joins the
// end of the line's queue, and its request travels to the core in front of it,
// by way of the line's home. That core may have the line, or still wait for it.
// It adds as long as the request is on its way, at least once, and gives the line
// up when the request is there and no add is under way.
//
//	worker A   ─add─add─add─┐                      ┌─add─add…
//	                        └─ asks ──────►┐       │
//	line                    ┊ on its way   ┊ at B  ┊ on its way
//	worker B      asks ────►└────────────►─add─add─┘
//
// So two cores that fight over a line batch their adds without wanting to, and
// a single atomic is not as slow at two cores as one transfer for each add would
// make it; with many cores the queue is never empty, requests are always there
// first, and each gets one add.
//
// Invariants:
//
//  1. A line has at most one holder, and an add happens only at the holder.
//  2. Queues are first in, first out, and every tenure makes at least one add,
//     so every request is answered.
//  3. Events happen in the order of time and, at one time, of their making. Time
//     is in whole picoseconds, so that results are equal on every platform.
//
// Rejected: a lock on the line for the whole of a transfer (no batching: 3 times
// the cost that is measured at two cores), and all transfers by one server for
// each line (its queue then hides that the one in front is near).

// A Result is what a run did after its warm-up.
type Result struct {
	// Adds are the adds that were made, those of all workers.
	Adds int64
	// Nanos is how long they took.
	Nanos float64
	// Workers holds the adds of each worker.
	Workers []int64
	// Lines holds the adds to each line.
	Lines []int64
	// Transfers is how often a line changed cores.
	Transfers int64
}

// PerSecond returns the adds per second of all workers together.
func (r Result) PerSecond() float64 { return float64(r.Adds) / r.Nanos * 1e9 }

// NanosPerAdd returns how long a worker takes for an add.
func (r Result) NanosPerAdd() float64 { return r.Nanos * float64(len(r.Workers)) / float64(r.Adds) }

// Used returns how many lines were added to.
func (r Result) Used() int {
	n := 0
	for _, adds := range r.Lines {
		if adds > 0 {
			n++
		}
	}
	return n
}

// warmUp is the part of a run that is not counted, so that all queues have
// formed.
const warmUp = 4 // a quarter

// Run simulates c. The error wraps ErrConfig.
func Run(c Config) (Result, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return Result{}, err
	}
	r := &run{
		cfg:     c,
		res:     newResult(c),
		add:     picos(c.Add),
		think:   picos(c.PickCost),
		lines:   make([]line, c.Stripes),
		workers: make([]worker, c.Workers),
		random:  rand.New(rand.NewPCG(c.Seed, uint64(c.Workers))),
	}
	r.start()
	r.until(c.Adds / warmUp)
	began := r.now
	r.res = newResult(c)
	r.until(c.Adds)
	r.res.Nanos = float64(r.now-began) / 1e3
	return r.res, nil
}

func newResult(c Config) Result {
	return Result{Workers: make([]int64, c.Workers), Lines: make([]int64, c.Stripes)}
}

// picos converts a cost to the unit of the simulation. The inner conversion keeps
// the two operations from being fused, which on some platforms rounds otherwise.
func picos(ns float64) int64 { return int64(float64(ns*1e3) + 0.5) }

// A line is a cache line: a stripe of the counter.
type line struct {
	holder *tenure // nil while the line is on its way
	last   *tenure // the end of the queue, or the holder if nobody waits
	users  int     // workers whose token says this line
}

// A tenure is one core's turn with a line, from when it asks for it.
type tenure struct {
	worker, line int
	core         int
	socket       int
	busy         bool    // an add is under way
	asked        bool    // the request of next is here
	next         *tenure // who asked for the line
}

// A worker is a goroutine that adds all the time.
type worker struct {
	line    int // that PerGoroutine or PoolToken drew
	core    int // where it runs; a core that it has left is not used again
	socket  int
	migrate int64 // when it moves to another core
}

type run struct {
	cfg        Config
	res        Result
	add, think int64
	lines      []line
	workers    []worker
	random     *rand.Rand
	events     queue
	now        int64
}

// start lets every worker begin at a moment of its own.
func (r *run) start() {
	cycle := r.add + r.think
	for i := range r.workers {
		w := &r.workers[i]
		w.core = i
		w.socket = i * r.cfg.Sockets / r.cfg.Workers
		w.line = r.random.IntN(len(r.lines))
		r.lines[w.line].users++
		if r.cfg.Migrate > 0 {
			w.migrate = 1 + r.random.Int64N(picos(r.cfg.Migrate))
		}
		r.events.push(event{at: r.random.Int64N(cycle), kind: begins, worker: i})
	}
}

// until makes n adds.
func (r *run) until(n int) {
	for r.res.Adds < int64(n) {
		e := r.events.pop()
		r.now = e.at
		switch e.kind {
		case begins:
			r.begin(e.worker)
		case ends:
			r.end(e.tenure)
		case asks:
			r.ask(e.tenure)
		case arrives:
			r.arrive(e.tenure)
		}
	}
}

// begin is worker i about to add.
func (r *run) begin(i int) {
	w := &r.workers[i]
	if r.cfg.Migrate > 0 && r.now >= w.migrate {
		w.core += r.cfg.Workers
		w.migrate = r.now + picos(r.cfg.Migrate)
	}
	n := r.pick(i)
	l := &r.lines[n]
	if l.holder != nil && l.holder.core == w.core {
		l.holder.worker = i
		r.work(l.holder)
		return
	}
	t := &tenure{worker: i, line: n, core: w.core, socket: w.socket}
	before := l.last
	l.last = t
	if before == nil { // nobody has ever used it
		l.holder = t
		r.work(t)
		return
	}
	before.next = t
	r.res.Transfers++
	r.events.push(event{at: r.now + r.leg(t, before, 1-handoverShare), kind: asks, tenure: before})
}

// work begins an add by t, which holds its line.
func (r *run) work(t *tenure) {
	t.busy = true
	r.events.push(event{at: r.now + r.add, kind: ends, tenure: t})
}

// end is the end of an add by t, whose worker then goes on.
func (r *run) end(t *tenure) {
	t.busy = false
	r.res.Adds++
	r.res.Workers[t.worker]++
	r.res.Lines[t.line]++
	if t.asked {
		r.give(t)
	}
	r.events.push(event{at: r.now + r.think, kind: begins, worker: t.worker})
}

// ask is the request of t.next at the core of t.
func (r *run) ask(t *tenure) {
	t.asked = true
	if r.lines[t.line].holder == t && !t.busy {
		r.give(t)
	}
}

// give sends the line of t to who is next.
func (r *run) give(t *tenure) {
	r.lines[t.line].holder = nil
	r.events.push(event{at: r.now + r.leg(t, t.next, handoverShare), kind: arrives, tenure: t.next})
}

// arrive is the line at the core of t, which has waited for it.
func (r *run) arrive(t *tenure) {
	r.lines[t.line].holder = t
	r.work(t)
}

// leg returns how long a part of a transfer between two cores takes this time:
// between half and one and a half times the mean, as cores are near and far and
// the way is busy or free.
func (r *run) leg(a, b *tenure, share float64) int64 {
	transfer := r.cfg.Transfer
	if a.socket != b.socket {
		transfer = r.cfg.Cross
	}
	mean := picos(transfer * share)
	return mean/2 + r.random.Int64N(mean+1)
}

// pick returns the line that worker i adds to now.
func (r *run) pick(i int) int {
	w := &r.workers[i]
	switch r.cfg.Pick {
	case PerP:
		return i & (len(r.lines) - 1)
	case Random:
		return r.random.IntN(len(r.lines))
	case PoolToken:
		if l := &r.lines[w.line]; l.users > 1 && l.holder != nil && l.holder.core != w.core {
			l.users--
			w.line = r.random.IntN(len(r.lines))
			r.lines[w.line].users++
		}
	case OneAtomic:
		return 0
	}
	return w.line
}
