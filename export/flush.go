package export

import (
	"context"
	"time"
)

const (
	// lastChance is the least time that Close allows for the last snapshot, even
	// if its context has ended. A directory or a store nearby needs a fraction of
	// it, and it is little of the 30 s that Kubernetes allows between SIGTERM and
	// SIGKILL.
	lastChance = 2 * time.Second

	// closeGrace is how long Close waits for sinks to notice that their
	// time is up.
	closeGrace = 20 * time.Millisecond
)

// Flush takes a snapshot and returns when every sink holds it. It does not wait
// for a sink's back-off first; between retries there is one, which begins short
// again. A sink that is blocked or stopped is tried once. When ctx ends before, or
// such a sink lacks the snapshot, the error is an *UnflushedError. If ctx has no
// deadline, Timeout is one.
func (e *Exporter) Flush(ctx context.Context) error {
	ctx, cancel := e.withDeadline(ctx)
	defer cancel()
	return e.flush(ctx, ctx)
}

func (e *Exporter) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, e.o.Timeout)
}

// flush retries until ctx ends, and waits for a first try until last ends, which
// is not before ctx does.
func (e *Exporter) flush(ctx, last context.Context) error {
	answer := make(chan flushed, 1)
	select {
	case e.flushes <- answer:
	case <-e.stop:
		return ErrClosed
	case <-last.Done():
		return e.unflushed(flushed{err: context.Cause(ctx)})
	}
	var f flushed
	select {
	case f = <-answer:
	case <-last.Done():
		f.err = context.Cause(ctx)
	}
	if f.err != nil {
		return e.unflushed(f)
	}
	return e.await(ctx, last, f)
}

// await returns when all sinks hold the snapshot, or have been tried and will not
// take it before an operator has done something or, once ctx has ended, at all.
func (e *Exporter) await(ctx, last context.Context, f flushed) error {
	ended := ctx.Done()
	for {
		changed, pending, failed, lacking := e.count(f.seq, ctx.Err() != nil)
		switch {
		case pending > 0:
		case lacking == 0:
			return nil
		case failed > 0:
			return e.unflushed(flushed{f.seq, context.Cause(ctx)})
		default:
			return e.unflushed(f)
		}
		select {
		case <-changed:
		case <-ended:
			ended = nil // what is left is one try
		case <-e.ctx.Done():
			return e.unflushed(flushed{f.seq, ErrClosed})
		case <-last.Done():
			return e.unflushed(flushed{f.seq, context.Cause(ctx)})
		}
	}
}

// count returns how many sinks may still come to hold the snapshot, how many have
// failed once where once is all, and how many do not hold it. The channel is closed
// when that changes.
func (e *Exporter) count(seq uint64, once bool) (changed <-chan struct{}, pending, failed, lacking int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.workers {
		if w.stats.Acked >= seq {
			continue
		}
		lacking++
		tried := w.tried >= seq
		switch {
		case w.stats.Stopped || w.live.blocked && tried:
		case once && tried:
			failed++
		default:
			pending++
		}
	}
	return e.changed, pending, failed, lacking
}

// Close stops the intervals, takes a last snapshot and flushes it like Flush. Each
// sink gets a try, even if ctx has ended already: Close returns by ctx's end or
// 2 s after the call, whichever is later, and at most 50 ms late, even if a sink
// does not. The error is an *UnflushedError if a sink does not hold the last
// snapshot; a sink that ignored its context may then still be writing. Further
// calls wait for the first one and return the same.
func (e *Exporter) Close(ctx context.Context) error {
	ctx, cancel := e.withDeadline(ctx)
	defer cancel()
	last, cancelLast := atLeast(ctx, lastChance)
	defer cancelLast()
	if e.closing.CompareAndSwap(false, true) {
		e.left = e.shutDown(ctx, last)
		close(e.closed)
		return e.left
	}
	select {
	case <-e.closed:
		return e.left
	case <-last.Done():
		return e.unflushed(flushed{err: context.Cause(ctx)})
	}
}

// atLeast returns a context that ends when ctx has ended and d is over.
func atLeast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := time.AfterFunc(d, func() { context.AfterFunc(ctx, cancel) })
	return longer, func() {
		timer.Stop()
		cancel()
	}
}

func (e *Exporter) shutDown(ctx, last context.Context) error {
	err := e.flush(ctx, last)
	close(e.stop)
	e.cancel()
	e.join()
	if u, ok := err.(*UnflushedError); ok { // a sink may have made it at the last moment
		return e.unflushed(flushed{u.Seq, u.Err})
	}
	return err
}

// join waits for the goroutines that notice that they are to end.
func (e *Exporter) join() {
	done := make(chan struct{})
	go func() {
		e.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeGrace):
	}
}
