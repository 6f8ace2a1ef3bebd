package hotcount

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// startExport restores what Dir holds and starts the exporter, if there is
// anywhere to export to.
func (e *Engine) startExport(o Options) error {
	var prior []*snapshot.Snapshot
	sinks := o.Sinks
	if o.Dir != "" {
		files, err := filesink.Open(filesink.Options{Dir: o.Dir, StartOver: o.StartOver, Logger: o.Logger})
		if err != nil {
			return fmt.Errorf("hotcount: %w", err)
		}
		e.files = files
		previous := files.Restored()
		e.restore(previous)
		for _, s := range previous {
			if !s.Writer.IsZero() { // the base has been handed on before
				prior = append(prior, s)
			}
		}
		sinks = slices.Concat([]export.Sink{files}, sinks)
	}
	if len(sinks) == 0 {
		return nil
	}

	e.mu.Lock() // the exporter takes a snapshot only once e.exporter is set
	defer e.mu.Unlock()
	exporter, err := export.New(export.Options{
		Source:   e,
		Sinks:    sinks,
		Interval: o.Interval,
		Timeout:  o.Timeout,
		Prior:    prior,
		HandedOn: e.handedOn,
		Logger:   o.Logger,
	})
	if err != nil {
		if e.files != nil {
			e.files.Close()
		}
		return fmt.Errorf("hotcount: %w", err)
	}
	e.exporter = exporter
	return nil
}

// handedOn runs when every sink holds the last snapshot of an earlier run, which
// then need not be kept apart any longer.
func (e *Engine) handedOn(w snapshot.WriterID) {
	if e.files == nil {
		return
	}
	if err := e.files.Fold(w); err != nil {
		e.log.Warn("hotcount: folding an earlier run failed; the next start tries again", "writer", w, "error", err)
	}
}

// Flush takes a snapshot and returns when every sink holds it. If ctx ends
// before that, the error is an *export.UnflushedError that names the sinks;
// after Close it is export.ErrClosed. An engine without sinks has
// nothing to flush.
func (e *Engine) Flush(ctx context.Context) error {
	if e.exporter == nil {
		return nil
	}
	return e.exporter.Flush(ctx)
}

// ExportStats says how export is doing, sink by sink. It is the zero value if the
// engine has no sink.
func (e *Engine) ExportStats() export.Stats {
	if e.exporter == nil {
		return export.Stats{}
	}
	return e.exporter.Stats()
}

// Close takes a last snapshot, flushes it to every sink and ends the engine's
// goroutines. Dir and each sink get a try, even if ctx has ended already, as
// after a server's shutdown that used up a deadline shared with Close: it returns
// by the end of ctx or 2 s after the call, whichever is later, and at most 50 ms
// late. If a sink could not take the snapshot by then, the error is an
// *export.UnflushedError. Without a deadline, Close allows the sinks 10 s. Dir
// may be used again when Close returns, unless a write to it was stuck.
//
// Adds made before Close was called are in that snapshot. Counters go on
// counting after it, but nothing is exported any more. More calls return the
// same.
func (e *Engine) Close(ctx context.Context) error {
	defer e.windows.close() // last: the final snapshot holds the windows, too
	if e.exporter == nil {
		return nil
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, closeTimeout)
		defer cancel()
	}
	err := e.exporter.Close(ctx)
	if e.files == nil {
		return err
	}
	if released := e.release(ctx); err == nil {
		err = released
	}
	return err
}

const (
	closeTimeout = 10 * time.Second

	// releaseGrace is how long Close waits beyond its context for Dir, which
	// takes microseconds unless a write to it is stuck.
	releaseGrace = 20 * time.Millisecond
)

// release lets go of Dir, so that another engine may have it. If a write holds
// it by the end of ctx, it is let go of when that ends.
func (e *Engine) release(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- e.files.Close() }()
	ended := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("hotcount: %w", err)
			}
			return nil
		case <-ended:
			ended, late = nil, time.After(releaseGrace)
		case <-late:
			return fmt.Errorf("hotcount: Dir is being written to still: %w", context.Cause(ctx))
		}
	}
}
