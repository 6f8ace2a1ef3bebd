package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/snapshot"
)

// A worker writes to one sink. Its fields below e.mu are guarded by it.
type worker struct {
	e    *Exporter
	sink Sink
	wake chan struct{}

	// Under e.mu.
	stats    SinkStats
	inARow   int       // failures since the last success
	retryAt  time.Time // not before, if not zero
	handedTo int       // prior snapshots tried, in order
}

// A job is one snapshot to write.
type job struct {
	s     *snapshot.Snapshot
	b     *buffer // that s is in, nil if s is e.prior[prior]
	prior int
}

func (e *Exporter) addWorkers(sinks []Sink) {
	used := map[string]int{}
	for _, s := range sinks {
		name := fmt.Sprintf("%T", s)
		if n, ok := s.(fmt.Stringer); ok {
			name = safetext.WithoutSecrets(n.String()) // it gets into labels and logs
		}
		if used[name]++; used[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, used[name])
		}
		e.workers = append(e.workers, &worker{
			e:     e,
			sink:  s,
			wake:  make(chan struct{}, 1),
			stats: SinkStats{Name: name},
		})
	}
}

// nudge makes the worker look for something to do.
func (w *worker) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *worker) run() {
	for {
		j, wait, stopped := w.pick()
		switch {
		case stopped || w.e.ctx.Err() != nil:
			return
		case j.s != nil:
			w.finish(j, w.write(j.s))
			continue
		}
		w.sleep(wait)
	}
}

// sleep waits for a nudge, at most for d, or for ever if d is 0.
func (w *worker) sleep(d time.Duration) {
	var after <-chan time.Time
	if d > 0 {
		after = time.After(d)
	}
	select {
	case <-w.wake:
	case <-after:
	case <-w.e.ctx.Done():
	}
}

// pick returns what to write now, or how long to wait. Live counts go before
// those of earlier writers, which are safe elsewhere.
func (w *worker) pick() (j job, wait time.Duration, stopped bool) {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.stats.Stopped {
		return job{}, 0, true
	}
	if !w.retryAt.IsZero() {
		if wait = time.Until(w.retryAt); wait > 0 {
			return job{}, wait, false
		}
	}
	switch {
	case e.newest != nil && e.newest.s.Seq > w.stats.Acked:
		j = job{s: &e.newest.s, b: e.newest}
		j.b.refs++
	case w.handedTo < len(e.prior):
		j = job{s: e.prior[w.handedTo], prior: w.handedTo}
	default:
		return job{}, 0, false
	}
	w.stats.Writing = time.Now()
	return j, 0, false
}

func (w *worker) write(s *snapshot.Snapshot) error {
	ctx, cancel := context.WithTimeout(w.e.ctx, w.e.o.Timeout)
	defer cancel()
	return contain(func() error { return w.sink.Write(ctx, s) })
}

// A panicError is a panic turned into an error.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprint("panic: ", p.value) }

// LogValue adds the stack, which would be too much for a message.
func (p *panicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("panic", fmt.Sprint(p.value)), slog.String("stack", string(p.stack)))
}

// contain calls f and turns a panic in it into an error.
func contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	return f()
}

// finish books the outcome of a write.
func (w *worker) finish(j job, err error) {
	e := w.e
	writer, seq := j.s.Writer, j.s.Seq
	e.mu.Lock()
	handed := w.book(j, err)
	if j.b != nil {
		e.release(j.b)
	}
	close(e.changed)
	e.changed = make(chan struct{})
	stats := w.stats
	e.mu.Unlock()

	if err != nil && e.ctx.Err() != nil {
		return // Close has ended the write, and reports what it left
	}
	if err != nil {
		e.log.Warn("hotcount/export: sink failed", "sink", stats.Name, "writer", writer, "seq", seq, "terminal", IsTerminal(err), "error", err)
	}
	if handed {
		e.handedOn(writer)
	}
	if err == nil && j.b != nil {
		e.acknowledge()
	}
}

// book changes the worker's state and reports whether all sinks are now done
// with a snapshot of an earlier writer. The caller holds e.mu.
func (w *worker) book(j job, err error) (handed bool) {
	w.stats.Writing = time.Time{}
	w.stats.Writes++
	w.stats.Err = err
	switch {
	case err == nil:
	case j.b == nil && errors.Is(err, ErrTooLate): // the sink has what it ever will
		w.stats.Failures++
	default:
		w.bookFailure(j, err)
		return false
	}
	w.inARow, w.retryAt = 0, time.Time{}
	if j.b != nil {
		w.stats.Acked = j.s.Seq
		w.stats.AckedAt = time.Now()
		return false
	}
	w.handedTo++
	e := w.e
	e.handed[j.prior]++
	if e.handed[j.prior] < len(e.workers) {
		return false
	}
	e.prior[j.prior] = nil // its memory can go
	return true
}

func (w *worker) bookFailure(j job, err error) {
	w.stats.Failures++
	if _, ok := err.(*panicError); ok {
		w.stats.Panics++
	}
	if IsTerminal(err) {
		if j.b != nil {
			w.stats.Stopped = true
		} else {
			w.handedTo++ // refused, which says nothing about live counts
		}
		return
	}
	backoff := min(minBackoff<<min(w.inARow, 10), maxBackoff)
	w.inARow++
	w.retryAt = time.Now().Add(backoff - rand.N(backoff/2))
}
