package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// How it works. One goroutine, the loop, takes snapshots; one goroutine per
// sink, a worker, writes them.
//
//	         Snapshot                         Write
//	Source ──────────▶ loop ──▶ newest ──┬──▶ worker ──▶ Sink
//	   ▲                                 └──▶ worker ──▶ Sink
//	   └──────────── Acknowledge ◀────────────┘
//	         the least seq that all sinks hold
//
// There is no queue. The loop replaces newest; a worker that becomes free
// writes newest if its sink does not hold it yet. A slow or failing sink so
// skips states, which loses nothing because states are absolute, and it costs
// one buffer, never a backlog.
//
// Invariants, under mu: a buffer is filled again only when nobody refers to it;
// newest and each writing worker hold one reference. So there are at most two
// more buffers than sinks. A worker's acked never falls, nor does what the
// Source has been told.
//
// The sinks are foreign code: they may be slow, fail, panic or ignore their
// context. A worker stuck in one holds only its own buffer; Close leaves it
// behind rather than wait.

// ErrClosed is returned by Flush after Close.
var ErrClosed = errors.New("hotcount/export: exporter is closed")

// Options say what an Exporter moves where. Only Source is required.
type Options struct {
	Source Source
	Sinks  []Sink

	Interval time.Duration // between snapshots, give or take a tenth; 0 means 10 s
	Timeout  time.Duration // of one Write; 0 means 10 s

	// Prior are last snapshots of earlier writers, to be handed on to every
	// sink. When all sinks hold one, or answer with ErrTooLate, HandedOn is
	// called with its writer.
	Prior    []*snapshot.Snapshot
	HandedOn func(snapshot.WriterID)

	// Logger gets the failures of sinks and of the Source. nil means
	// slog.Default().
	Logger *slog.Logger
}

const (
	defaultInterval = 10 * time.Second
	defaultTimeout  = 10 * time.Second

	// A failing sink is tried again after minBackoff, then after twice as
	// long each time up to maxBackoff; each wait is shortened at random by
	// up to a half, so that a fleet does not come back as one.
	minBackoff = time.Second
	maxBackoff = time.Minute

	// maxBlocked does the same for a sink that waits for an operator.
	maxBlocked = 4 * time.Minute
)

// An Exporter takes snapshots of a Source at intervals and writes them to
// sinks, each at its own pace. Its methods are safe for concurrent use.
type Exporter struct {
	o       Options
	log     *slog.Logger
	workers []*worker
	started time.Time

	flushes chan chan<- flushed // to the loop
	stop    chan struct{}       // closed to end the loop
	ctx     context.Context     // ends the workers
	cancel  context.CancelFunc
	running sync.WaitGroup
	closing atomic.Bool
	closed  chan struct{} // closed when Close has its result
	left    error         // that result

	mu      sync.Mutex
	newest  *buffer
	free    []*buffer
	changed chan struct{}        // closed and replaced when a worker's state changes
	prior   []*snapshot.Snapshot // each nil once all sinks hold it
	handed  []int                // per prior, the number of sinks that are done with it

	ackMu sync.Mutex
	acked uint64 // what the Source has been told, under ackMu
}

// A buffer is a snapshot that is reused when nobody refers to it.
type buffer struct {
	s    snapshot.Snapshot
	refs int
}

// flushed is the loop's answer to a request for a snapshot.
type flushed struct {
	seq uint64
	err error
}

// New starts an Exporter. The first snapshot is taken at a random
// moment within Interval, so that processes started together do not export
// together.
func New(o Options) (*Exporter, error) {
	switch {
	case o.Source == nil:
		return nil, errors.New("hotcount/export: Options.Source is nil")
	case slices.Contains(o.Sinks, nil):
		return nil, errors.New("hotcount/export: Options.Sinks has a nil sink")
	case o.Interval < 0 || o.Timeout < 0:
		return nil, fmt.Errorf("hotcount/export: Options: negative Interval %v or Timeout %v", o.Interval, o.Timeout)
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	prior := slices.Clone(o.Prior)
	o.Prior = nil // what has been handed on is let go
	e := &Exporter{
		o:       o,
		log:     o.Logger,
		started: time.Now(),
		flushes: make(chan chan<- flushed),
		stop:    make(chan struct{}),
		closed:  make(chan struct{}),
		changed: make(chan struct{}),
		prior:   prior,
		handed:  make([]int, len(prior)),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.addWorkers(o.Sinks)
	e.running.Go(e.loop)
	for _, w := range e.workers {
		e.running.Go(w.run)
	}
	return e, nil
}

func (e *Exporter) loop() {
	if len(e.workers) == 0 {
		for _, s := range e.prior {
			e.handedOn(s.Writer)
		}
	}
	timer := time.NewTimer(rand.N(e.o.Interval))
	defer timer.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-timer.C:
			if !e.closing.Load() { // Close takes the last snapshot
				e.take(false)
			}
			timer.Reset(jitter(e.o.Interval))
		case answer := <-e.flushes:
			answer <- e.take(true)
		}
	}
}

// jitter returns d give or take a tenth.
func jitter(d time.Duration) time.Duration {
	tenth := d / 10
	return d - tenth + rand.N(2*tenth+1)
}

// take takes a snapshot and shows it to the workers. If it is urgent, they forget
// their back-offs in the same step: earlier, a Write of an older snapshot could bring
// a new one; later, a Write of this one may have failed already, and would be retried
// at once. Only the loop calls it.
func (e *Exporter) take(urgent bool) flushed {
	b := e.buffer()
	if err := contain(func() error { e.o.Source.Snapshot(&b.s); return nil }); err != nil {
		e.log.Error("hotcount/export: taking a snapshot failed", "error", err)
		e.mu.Lock()
		e.free = append(e.free, b)
		e.mu.Unlock()
		return flushed{err: err}
	}
	seq := b.s.Seq
	e.mu.Lock()
	b.refs = 1
	if e.newest != nil {
		e.release(e.newest)
	}
	e.newest = b
	for _, w := range e.workers {
		if urgent {
			w.live.hurry()
			w.prior.hurry()
		}
		w.nudge()
	}
	e.mu.Unlock()
	if len(e.workers) == 0 {
		e.acknowledge()
	}
	return flushed{seq: seq}
}

func (e *Exporter) buffer() *buffer {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.free); n > 0 {
		b := e.free[n-1]
		e.free = e.free[:n-1]
		b.s.Reset()
		return b
	}
	return new(buffer)
}

// release drops a reference. The caller holds mu.
func (e *Exporter) release(b *buffer) {
	if b.refs--; b.refs == 0 {
		e.free = append(e.free, b)
	}
}

// acknowledge tells the Source what all sinks hold, if that has grown.
func (e *Exporter) acknowledge() {
	e.ackMu.Lock()
	defer e.ackMu.Unlock()
	e.mu.Lock()
	least := e.newest.s.Seq
	for _, w := range e.workers {
		least = min(least, w.stats.Acked)
	}
	e.mu.Unlock()
	if least <= e.acked {
		return
	}
	e.acked = least
	if err := contain(func() error { e.o.Source.Acknowledge(least); return nil }); err != nil {
		e.log.Error("hotcount/export: acknowledging failed", "seq", least, "error", err)
	}
}

func (e *Exporter) handedOn(w snapshot.WriterID) {
	if e.o.HandedOn == nil {
		return
	}
	if err := contain(func() error { e.o.HandedOn(w); return nil }); err != nil {
		e.log.Error("hotcount/export: Options.HandedOn failed", "writer", w, "error", err)
	}
}
