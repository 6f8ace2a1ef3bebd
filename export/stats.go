package export

import (
	"fmt"
	"strings"
	"time"
)

// SinkStats is how an Exporter gets on with one sink.
type SinkStats struct {
	Name     string    // its String method's without passwords in addresses, else its type
	Acked    uint64    // greatest seq that the sink holds
	AckedAt  time.Time // when it came to hold that
	Writing  time.Time // since when a Write has been running, zero if none is
	Writes   uint64    // Writes that have returned
	Failures uint64    // Writes that have failed, panics among them
	Panics   uint64
	Err      error // of the last Write

	// Blocked says that the last Write failed for a reason that an operator has
	// to mend, such as a wrong password or missing tables. The sink is tried
	// again every few minutes, and by each Flush and Close.
	Blocked bool

	// Stopped says that the sink has failed for good, with ErrTooLate, and gets
	// no more Writes.
	Stopped bool
}

// Stats is the state of an Exporter.
type Stats struct {
	Seq   uint64    // of the newest snapshot, 0 before the first
	Taken time.Time // when that was taken
	Sinks []SinkStats
}

// Stats returns the state of the exporter and of each sink, in the order of
// Options.Sinks.
func (e *Exporter) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	var st Stats
	if e.newest != nil {
		st.Seq, st.Taken = e.newest.s.Seq, e.newest.s.Taken
	}
	for _, w := range e.workers {
		st.Sinks = append(st.Sinks, w.stats)
	}
	return st
}

// An UnflushedError says which sinks do not hold a snapshot that was to be
// flushed. It wraps Err and the sinks' own errors.
type UnflushedError struct {
	Seq   uint64      // of the snapshot, 0 if it could not be taken
	Err   error       // why waiting for the sinks ended, nil if they are all blocked or stopped
	Sinks []SinkStats // those that do not hold it
}

func (u *UnflushedError) Error() string {
	var b strings.Builder
	if u.Seq == 0 {
		b.WriteString("hotcount/export: no snapshot taken")
	} else {
		fmt.Fprintf(&b, "hotcount/export: snapshot %d not flushed", u.Seq)
	}
	if u.Err != nil {
		fmt.Fprintf(&b, ": %v", u.Err)
	}
	for _, s := range u.Sinks {
		fmt.Fprintf(&b, "; sink %s holds ", s.Name)
		if s.Acked == 0 {
			b.WriteString("none")
		} else {
			fmt.Fprintf(&b, "snapshot %d", s.Acked)
		}
		if s.Err != nil {
			fmt.Fprintf(&b, ", last error: %v", s.Err)
		}
	}
	return b.String()
}

// Unwrap returns Err and the sinks' errors.
func (u *UnflushedError) Unwrap() []error {
	var errs []error
	if u.Err != nil {
		errs = append(errs, u.Err)
	}
	for _, s := range u.Sinks {
		if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return errs
}

// unflushed returns the error for a flush that ended as f says, nil if all
// sinks hold the snapshot after all.
func (e *Exporter) unflushed(f flushed) error {
	u := &UnflushedError{Seq: f.seq, Err: f.err}
	for _, s := range e.Stats().Sinks {
		if f.seq == 0 || s.Acked < f.seq {
			u.Sinks = append(u.Sinks, s)
		}
	}
	if f.seq != 0 && len(u.Sinks) == 0 {
		return nil
	}
	return u
}
