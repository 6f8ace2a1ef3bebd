package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

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
	live     lane
	prior    lane
	tried    uint64 // greatest live seq that a Write has returned for
	handedTo int    // prior snapshots done with, in order
}

// A lane is the retries of a sink's live snapshots, or of those of earlier runs.
// Neither holds up the other.
type lane struct {
	inARow   int       // failures since the last success or Flush, for the back-off
	retryAt  time.Time // not before, if not zero
	failures int       // since the last success
	blocked  bool      // the last failure needs an operator
}

// due returns how long to wait for the next try, 0 if it may be now.
func (l *lane) due() time.Duration {
	if l.retryAt.IsZero() {
		return 0
	}
	return max(0, time.Until(l.retryAt))
}

// hurry makes the next try due now, and the back-off short again, also that of a
// Write underway, should it fail.
func (l *lane) hurry() { l.inARow, l.retryAt = 0, time.Time{} }

func (l *lane) fail(err error) {
	l.blocked = advice(err) != ""
	longest := maxBackoff
	if l.blocked {
		longest = maxBlocked
	}
	backoff := min(minBackoff<<min(l.inARow, 10), longest)
	l.inARow++
	l.failures++
	l.retryAt = time.Now().Add(backoff - rand.N(backoff/2))
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
			name = strings.Map(plain, safetext.WithoutSecrets(n.String())) // it gets into labels and logs
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

// plain replaces what a label's value or a log's word would have to escape.
func plain(r rune) rune {
	if r == '"' || r == '\\' || !unicode.IsPrint(r) {
		return '_'
	}
	return r
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
	live, prior := w.live.due(), w.prior.due()
	hasLive, hasPrior := e.newest != nil && e.newest.s.Seq > w.stats.Acked, w.handedTo < len(e.prior)
	switch {
	case hasLive && live == 0:
		j = job{s: &e.newest.s, b: e.newest}
		j.b.refs++
	case hasPrior && prior == 0:
		j = job{s: e.prior[w.handedTo], prior: w.handedTo}
	case hasLive && hasPrior:
		return job{}, min(live, prior), false
	case hasLive:
		return job{}, live, false
	case hasPrior:
		return job{}, prior, false
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
	before, failures := w.stats, w.live.failures
	handed := w.book(j, err)
	if j.b != nil {
		e.release(j.b)
	}
	close(e.changed)
	e.changed = make(chan struct{})
	stats := w.stats
	e.mu.Unlock()

	switch {
	case err == nil && j.b != nil && failures > 0:
		e.log.Info("hotcount/export: sink recovered", "sink", stats.Name, "seq", seq,
			"failures", failures, "behind", stats.AckedAt.Sub(e.heldSince(before)), "snapshots", seq-before.Acked)
	case err != nil && e.ctx.Err() == nil: // else Close has ended the write, and reports what it left
		w.complain(j, writer, seq, err, stats.Stopped)
	}
	if handed {
		e.handedOn(writer)
	}
	if err == nil && j.b != nil {
		e.acknowledge()
	}
}

// heldSince returns since when the sink's store has been as it is.
func (e *Exporter) heldSince(s SinkStats) time.Time {
	if s.AckedAt.IsZero() {
		return e.started
	}
	return s.AckedAt
}

// complain logs a failure.
func (w *worker) complain(j job, writer snapshot.WriterID, seq uint64, err error, stopped bool) {
	log := w.e.log.With("sink", w.stats.Name, "writer", writer, "seq", seq, "error", err)
	switch do := advice(err); {
	case stopped:
		log.Error("hotcount/export: sink stopped for good", "do", "restart the process, which then counts as a new writer")
	case j.b == nil && errors.Is(err, ErrTooLate):
		log.Warn("hotcount/export: what an earlier run counted last came too late for the sink")
	case do != "":
		log.Error("hotcount/export: sink is blocked", "do", do)
	default:
		log.Warn("hotcount/export: sink failed")
	}
}

// book changes the worker's state and reports whether all sinks are now done
// with a snapshot of an earlier writer. The caller holds e.mu.
func (w *worker) book(j job, err error) (handed bool) {
	w.stats.Writing = time.Time{}
	w.stats.Writes++
	w.stats.Err = err
	tooLate := Kind(err) == ErrTooLate
	l := &w.prior
	if j.b != nil {
		l, w.tried = &w.live, j.s.Seq
	}
	if err != nil {
		w.stats.Failures++
		if _, ok := err.(*panicError); ok {
			w.stats.Panics++
		}
	}
	switch {
	case err == nil || tooLate && j.b == nil: // the sink has what it ever will
		*l = lane{}
	case tooLate:
		w.stats.Stopped = true
	default:
		l.fail(err)
	}
	w.stats.Blocked = w.live.blocked || w.prior.blocked
	switch {
	case j.b == nil && l.failures == 0:
		return w.handOn(j)
	case j.b != nil && err == nil:
		w.stats.Acked = j.s.Seq
		w.stats.AckedAt = time.Now()
	}
	return false
}

// handOn takes a prior snapshot off the worker's list.
func (w *worker) handOn(j job) (handed bool) {
	e := w.e
	w.handedTo++
	e.handed[j.prior]++
	if e.handed[j.prior] < len(e.workers) {
		return false
	}
	e.prior[j.prior] = nil // its memory can go
	return true
}
