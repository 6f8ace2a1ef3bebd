package pgsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// How it works. A flush is one transaction on one connection:
//
//	┌ lock the writer's row in writers: its standing   (what is held, by whom)
//	│   Mirror.Settle, Mirror.Pick                     (what is to be sent)
//	├ ids of series that are not known yet, in key order; new ones are made
//	├ upserts of counters, uniques, buckets, and the new standing
//	└ commit
//
// Invariants:
//
//  1. The rows of a writer and its standing change together, under the lock of
//     its row in writers. So whoever holds the lock sees a whole flush or
//     nothing of it, and the mark says which of two clones it was from.
//  2. Locks are taken in one order: a row of writers; new rows of series, by
//     key; then rows that only this writer has. Nobody takes a second row of
//     writers, except a roll-up, which does not wait for one. So there are no
//     deadlocks.
//  3. An id of a series is used in the transaction that read it, and later as
//     long as the standing shows that the server has that transaction: one that
//     has been restored may have given the id to another series.
//  4. At most one roll-up runs at a time in a schema. It takes writers whose
//     lease has run out by the server's clock; the zero writer, which no process
//     has, gets their sums.
//
// Decided: the exact sketch is always stored, as what is merged, and the column
// for the extension hll is a copy for SQL: its registers stop at 31 and hash
// modes cannot be told apart in it. Label values may be any bytes, so the key is
// a bytea, which sorts as Go strings do.
//
// Rejected: a temporary table filled by COPY, which bloats the catalog and needs
// the privilege TEMP; hashes for ids, as two series could have the same; a
// materialized view for totals, which only its owner may refresh.
//
// Limits: all rows that a snapshot changes are sent in one transaction. Buckets
// follow the writers' wall clocks.

// Options say where a Sink writes. Only Pool is required.
type Options struct {
	// Pool is the caller's, and stays open. One connection is used at a time.
	Pool *pgxpool.Pool

	// Schema has the tables, which Migrate makes. "" means DefaultSchema.
	Schema string

	// Lease is for how long after its last flush a writer counts as alive,
	// by the server's clock; 0 means an hour. A writer that was only away
	// for longer goes on under a new id and loses nothing; but what it had
	// not flushed before it died can then no longer be handed on by the
	// next run, see export.ErrTooLate. So a lease should be longer than
	// outages and restarts. Until it ends, the rows of a writer that died
	// are kept one by one.
	Lease time.Duration

	// KeepBuckets is for how long the buckets of windows are kept, by the
	// server's clock; 0 means 7 days.
	KeepBuckets time.Duration

	// Logger gets failures of the work on dead writers' rows, which do not
	// make a Write fail. nil means none.
	Logger *slog.Logger
}

const (
	defaultLease       = time.Hour
	defaultKeepBuckets = 7 * 24 * time.Hour

	// maxAsks bounds how often one Write changes its id. A second time takes
	// a clone that guesses random ids.
	maxAsks = 4
)

// A Sink writes snapshots to PostgreSQL. Write must not be called by two
// goroutines at once, as export.Sink says; RollUp and RefreshTotals may be
// called at any time.
//
// When Write returns nil, the snapshot is committed: a Reader that asks later
// finds it.
type Sink struct {
	o       Options
	q       queries
	hll     atomic.Pointer[string] // the type of the extension's column, "" without; nil until checked
	sources map[snapshot.WriterID]*source
	rollAt  time.Time // when to look for dead writers
}

// A source is what the tables hold of one engine.
type source struct {
	sinkkit.Mirror
	buckets sinkkit.BucketMirror
	ids     idCache
	written bool // the last Write of it ended well
}

// hold says that the tables hold s.
func (f *source) hold(s *snapshot.Snapshot) {
	f.ids.hold(f.Mark())
	f.Hold(s)
	f.ids.shrink(len(s.Counters) + len(s.Final) + len(s.Uniques) + len(s.Windows))
}

var _ export.Sink = (*Sink)(nil)

// New returns a Sink. It does not connect.
func New(o Options) (*Sink, error) {
	switch {
	case o.Pool == nil:
		return nil, errors.New("hotcount/pgsink: Options.Pool is nil")
	case o.Lease < 0 || o.KeepBuckets < 0:
		return nil, fmt.Errorf("hotcount/pgsink: Options: negative Lease %v or KeepBuckets %v", o.Lease, o.KeepBuckets)
	}
	o.Schema = cmp.Or(o.Schema, DefaultSchema)
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.KeepBuckets == 0 {
		o.KeepBuckets = defaultKeepBuckets
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	k := &Sink{
		o:       o,
		q:       newQueries(o.Schema),
		sources: make(map[snapshot.WriterID]*source),
	}
	k.rollLater()
	return k, nil
}

// String returns "postgres" and the schema, never how to connect.
func (k *Sink) String() string { return "postgres " + k.o.Schema }

// Write implements export.Sink: it commits s, in one transaction. Errors wrap
// those of package export.
//
// It costs time by what has changed since the last one, and roll-ups now and then.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	from := k.sources[s.Writer]
	if from == nil {
		from = new(source)
		k.sources[s.Writer] = from
	}
	if err := k.write(ctx, from, s); err != nil {
		return explain("flush", err)
	}
	k.dropOlder()
	if time.Now().After(k.rollAt) {
		k.rollLater()
		if _, err := k.RollUp(ctx); err != nil {
			k.o.Logger.Warn("hotcount/pgsink: rolling up dead writers failed", "error", err)
		}
	}
	return nil
}

// dropOlder forgets the sources of earlier runs once the newest is known: each
// had one last snapshot, which has been written.
func (k *Sink) dropOlder() {
	var newest snapshot.WriterID
	for w := range k.sources {
		if w.Compare(newest) > 0 {
			newest = w
		}
	}
	for w, from := range k.sources {
		if w != newest && from.written {
			delete(k.sources, w)
		}
	}
}

// rollLater sets when to look for dead writers, at random, so that a fleet does
// not do it at once.
func (k *Sink) rollLater() {
	k.rollAt = time.Now().Add(k.o.Lease/4 + rand.N(k.o.Lease/4+1))
}

func (k *Sink) write(ctx context.Context, from *source, s *snapshot.Snapshot) error {
	from.written = false
	from.Follow(s)
	for range maxAsks {
		step, err := k.flush(ctx, from, s)
		switch {
		case err != nil:
			return err
		case step == sinkkit.Send:
			from.hold(s)
		}
		if step != sinkkit.Ask {
			from.written = true
			return nil
		}
	}
	return fmt.Errorf("%w: somebody uses each id that writer %v takes", export.ErrInterrupted, s.Writer)
}

// flush does what Settle returns, as one transaction.
func (k *Sink) flush(ctx context.Context, from *source, s *snapshot.Snapshot) (step sinkkit.Step, err error) {
	err = pgx.BeginTxFunc(ctx, k.o.Pool, readCommitted, func(tx pgx.Tx) error {
		column, err := k.check(ctx, tx)
		if err != nil {
			return err
		}
		st, err := k.standing(ctx, tx, from.Writer())
		if err != nil {
			return err
		}
		from.ids.settle(st.Mark, from.Mark())
		step, err = from.Settle(st)
		if err != nil || step != sinkkit.Send {
			return err
		}
		return k.send(ctx, tx, from, s, st, column)
	})
	return step, err
}

// check makes sure, once, that the tables are those that this package knows. It
// returns the type of the column for the extension hll, "" if there is none.
func (k *Sink) check(ctx context.Context, tx pgx.Tx) (string, error) {
	if column := k.hll.Load(); column != nil {
		return *column, nil
	}
	have, column, err := k.q.shape(ctx, tx)
	switch {
	case err != nil:
		return "", err
	case have > version:
		return "", tooNew(have)
	case have < version:
		return "", fmt.Errorf("%w: tables of version %d, want %d: call Migrate", export.ErrSchema, have, version)
	}
	k.hll.Store(&column)
	return column, nil
}

// standing returns the standing of w and locks it until the transaction ends.
func (k *Sink) standing(ctx context.Context, tx pgx.Tx, w snapshot.WriterID) (sinkkit.Standing, error) {
	var st sinkkit.Standing
	var b pgx.Batch
	// A client that is gone, and whose connection nobody has closed, must not
	// keep its locks for hours.
	b.Queue(`SET LOCAL idle_in_transaction_session_timeout = '60s'`)
	// First make the row, so that there is one to lock: of two clones, one
	// waits here.
	b.Queue(k.q.text(`INSERT INTO {schema}.writers (writer, seq, mark, expires) VALUES ($1, 0, $2, clock_timestamp()) ON CONFLICT DO NOTHING`),
		[16]byte(w), [16]byte{})
	b.Queue(k.q.text(`SELECT seq, mark, dead IS NOT NULL FROM {schema}.writers WHERE writer = $1 FOR UPDATE`), [16]byte(w)).
		QueryRow(func(row pgx.Row) error { return row.Scan(&st.Seq, (*[16]byte)(&st.Mark), &st.Dead) })
	err := tx.SendBatch(ctx, &b).Close()
	return st, err
}

// send writes what the tables lack of s, and the standing.
func (k *Sink) send(ctx context.Context, tx pgx.Tx, from *source, s *snapshot.Snapshot, st sinkkit.Standing, column string) error {
	rows, sketches := from.Pick(s)
	buckets := from.buckets.Pick(&from.Mirror, s)
	ids, err := k.intern(ctx, tx, &from.ids, keysOf(rows, sketches, buckets))
	if err != nil {
		return err
	}
	p := put{q: k.q, hll: column, writer: from.Writer(), seq: s.Seq}
	p.counters(rows, ids)
	if err := p.uniques(sketches, ids[len(rows):]); err != nil {
		return err
	}
	p.buckets(buckets, ids[len(rows)+len(sketches):])
	p.standing(st, from.Mark(), k.o.Lease)
	return tx.SendBatch(ctx, &p.batch).Close()
}

func keysOf(rows []snapshot.CounterRow, sketches []snapshot.UniquesRow, buckets []sinkkit.BucketRow) []series.Key {
	keys := make([]series.Key, 0, len(rows)+len(sketches)+len(buckets))
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	for _, u := range sketches {
		keys = append(keys, u.Key)
	}
	for _, b := range buckets {
		keys = append(keys, b.Key)
	}
	return keys
}
