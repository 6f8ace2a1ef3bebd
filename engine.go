package hotcount

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/index"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// Options configure an Engine. The zero value is an engine that counts in
// memory only.
type Options struct {
	// Dir is the directory that keeps snapshots across restarts; see package
	// filesink. It is made if need be. One process at a time may use it.
	// Empty means that nothing is kept.
	Dir string

	// Interval is the time between two exports to Dir and Sinks, 10 s by
	// default. A crash loses at most what was counted since the last one
	// that completed.
	Interval time.Duration

	// StartOver lets New go on where damaged files in Dir would make it fail
	// with filesink.ErrUnreadable. Their counts are then missing from every
	// total; the files are kept under another name.
	StartOver bool

	// Sinks get every snapshot beside Dir, each at its own pace.
	Sinks []export.Sink

	// Timeout is for how long one write to Dir or to a sink may take, 10 s by
	// default. A sink that cannot do it in that time tries again; see its
	// documentation for how many series that is.
	Timeout time.Duration

	// Limits bound the number of series.
	Limits Limits

	// Uniques are the options of the engine's sketches. Elements that
	// strangers choose call for a Seed; see package hll. Keep it from run to
	// run: what was counted under another Hash or Seed, or at a lower
	// Precision, is not in the estimates. Logger is told, and Dir keeps it.
	Uniques hll.Options

	// Logger gets what goes wrong in the background, slog.Default() by
	// default. Health series count it in any case. Its handler may add to
	// the engine's counters, and make them; it must not call View, Snapshot,
	// Window or Adjust, which may be what logs.
	Logger *slog.Logger
}

// Limits bound the memory of an engine whose label values come from strangers: that
// of its series. What series counted that were retired, or that earlier runs had,
// is kept beyond that by an engine with a Dir, as its totals would else shrink.
// A series takes about 110 bytes with two short label values, and what longer ones
// take beyond that, 64 KiB at most.
type Limits struct {
	// FamilySeries is how many series a family may have, 10,000 by default.
	// Beyond that, look-ups of new series return the family's overflow
	// series, which has the one label hotcount_overflow="true" and so keeps
	// the exact rest of the family's total. So do look-ups with more than
	// 64 KiB of label values. Series that exist are not affected. A series
	// that left memory while its handle was held, and is added to again,
	// comes back even beyond the limit.
	FamilySeries int64

	// Series is the same for all families together, 1,000,000 by default.
	Series int64

	// LabelBytes is the same for the bytes that the label values of all series
	// take, 256 MiB by default: a client that chooses long ones could otherwise
	// fill the memory with few series.
	LabelBytes int64

	// IdleAfter, if positive, lets a series of counts go that did not change
	// for so long, give or take two seconds, once every sink has acknowledged
	// its final value. It takes effect in the snapshots. A handle that the
	// caller still holds loses nothing: its next add brings the series back,
	// from zero and with a new start time. Overflow series and uniques stay.
	IdleAfter time.Duration
}

const (
	defaultFamilySeries = 10_000
	defaultSeries       = 1_000_000
	defaultLabelBytes   = 256 << 20
)

// An Engine is a registry of named counters that exports what they counted. Use
// New to make one; an Engine must not be copied. All methods are safe for
// concurrent use.
type Engine struct {
	limits   Limits
	sketches hll.Options
	log      *slog.Logger
	writer   snapshot.WriterID
	started  time.Time

	hasher   hasher
	index    *index.Index[entry]
	families *index.Index[family]

	restored map[series.Desc]*restored // unchanged after New
	previous Restored

	files    *filesink.Sink   // nil without a Dir
	exporter *export.Exporter // nil without a sink; guarded by mu until New returns

	_ [lineSize]byte // every look-up reads what is above

	live       atomic.Int64 // series that count against limits.Series
	labelBytes atomic.Int64 // of their label values
	created    atomic.Int64

	// notBefore is a lower bound for series.created: later than that of every
	// series that has left the index. Only the sweep moves it.
	notBefore atomic.Uint32

	parked   parking
	windows  windows
	warnings warnings

	mu          sync.Mutex // held by Snapshot, Acknowledge and Adjust
	sweep       sweep
	adjustments adjustments
}

type shard = index.Shard[entry]

// New starts an engine. With a Dir it restores what earlier runs counted. The
// error wraps filesink.ErrLocked if the directory is in use, and
// filesink.ErrUnreadable if counts in it are damaged beyond repair; the directory
// is then as it was. It wraps hll.ErrOptions if Uniques is invalid.
//
// An engine with a Dir, Sinks or windows runs goroutines until Close.
func New(o Options) (*Engine, error) {
	for _, given := range []struct {
		field string
		n     int64
	}{
		{"Interval", int64(o.Interval)},
		{"Timeout", int64(o.Timeout)},
		{"Limits.FamilySeries", o.Limits.FamilySeries},
		{"Limits.Series", o.Limits.Series},
		{"Limits.LabelBytes", o.Limits.LabelBytes},
		{"Limits.IdleAfter", int64(o.Limits.IdleAfter)},
	} {
		if given.n < 0 {
			return nil, fmt.Errorf("hotcount: Options.%s is negative", given.field)
		}
	}
	if _, err := hll.New(o.Uniques); err != nil {
		return nil, fmt.Errorf("hotcount: %w", err)
	}
	if o.Limits.FamilySeries == 0 {
		o.Limits.FamilySeries = defaultFamilySeries
	}
	if o.Limits.Series == 0 {
		o.Limits.Series = defaultSeries
	}
	if o.Limits.LabelBytes == 0 {
		o.Limits.LabelBytes = defaultLabelBytes
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	e := &Engine{
		limits:   o.Limits,
		sketches: o.Uniques,
		log:      o.Logger,
		writer:   snapshot.NewWriterID(),
		started:  time.Now(),
		hasher:   newHasher(),
	}
	e.sweep.health.keys = newHealthKeys()
	e.index = index.New(e.hashOf)
	e.families = index.New(func(f *family) uint64 { return f.seed })
	if err := e.startExport(o); err != nil {
		return nil, err
	}
	return e, nil
}

// hashOf returns what family.hash returns for the values of s.
func (e *Engine) hashOf(s *entry) uint64 {
	h := s.fam.seed
	for rest := s.labels; rest != ""; {
		var v string
		v, rest, _ = series.CutValue(rest)
		h = e.hasher.add(h, v)
	}
	return e.hasher.finish(h)
}

// age returns the whole seconds since the engine started. 32 bits of them last
// 136 years.
func (e *Engine) age() uint32 { return uint32(time.Since(e.started) / time.Second) }
