package pgsink

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hotcount/hotcount/snapshot"
)

const (
	// rollUpWriters is how many dead writers go into one transaction at most,
	// and rollUpTime how long that may take before there are fewer of them.
	rollUpWriters = 100
	rollUpTime    = 500 * time.Millisecond

	// keepTombstones is for how long it is remembered what a dead writer had
	// flushed. A process that was suspended for longer and then goes on
	// would count that twice. A tombstone takes about 150 bytes with its
	// entries in two indexes.
	keepTombstones = 365 * 24 * time.Hour
)

// RollUp adds up the rows of writers whose lease has run out, by the server's
// clock, and returns how many there were. It also deletes buckets that are older
// than KeepBuckets. A Sink does so by itself, at random intervals of a quarter
// to half of the lease.
//
// Each step is one transaction: rows are added to those of the zero writer, and
// a tombstone is left, or nothing happens. RollUp returns at once if another
// process is at it. When it fails, some writers may be done. Where one writer has
// so many rows that they cannot be added up in the time that Write is given, call
// RollUp with more.
func (k *Sink) RollUp(ctx context.Context) (writers int, err error) {
	for limit := 1; ; {
		n, begun := 0, time.Now()
		err := pgx.BeginTxFunc(ctx, k.o.Pool, readCommitted, func(tx pgx.Tx) (err error) {
			n, err = k.rollUp(ctx, tx, limit)
			return err
		})
		if err != nil {
			return writers, explain("roll-up", err)
		}
		if writers += n; n < limit {
			return writers, nil
		}
		if limit = min(2*limit, rollUpWriters); time.Since(begun) > rollUpTime {
			limit = 1
		}
	}
}

const (
	// A writer in the middle of a flush is alive, whatever its lease says,
	// and the lock tells.
	expiredWriters = `
		SELECT writer FROM {schema}.writers
		WHERE dead IS NULL AND expires < clock_timestamp()
		ORDER BY expires LIMIT $1
		FOR UPDATE SKIP LOCKED`

	addUpCounters = `
		WITH gone AS (DELETE FROM {schema}.counters WHERE writer = ANY ($1) RETURNING series, carry + value AS n)
		INSERT INTO {schema}.counters AS base (series, writer, created, value, seq, carry)
		SELECT series, $2, 0, 0, 0, sum(n) FROM gone GROUP BY series
		ON CONFLICT (series, writer) DO UPDATE SET carry = base.carry + excluded.carry, updated = excluded.updated`

	addUpBuckets = `
		WITH gone AS (DELETE FROM {schema}.buckets WHERE writer = ANY ($1) RETURNING series, resolution, start, count)
		INSERT INTO {schema}.buckets AS base (series, resolution, start, writer, count, seq)
		SELECT series, resolution, start, $2, sum(count), 0 FROM gone GROUP BY series, resolution, start
		ON CONFLICT (series, resolution, start, writer) DO UPDATE SET count = base.count + excluded.count`

	bury = `UPDATE {schema}.writers SET dead = clock_timestamp() WHERE writer = ANY ($1)`

	dropBuckets    = `DELETE FROM {schema}.buckets WHERE start < clock_timestamp() - $1::interval`
	dropTombstones = `DELETE FROM {schema}.writers WHERE dead < clock_timestamp() - $1::interval`
)

// base is the writer that has what dead ones add up to.
var base = [16]byte(snapshot.WriterID{})

// rollUp adds up some dead writers, and returns how many.
func (k *Sink) rollUp(ctx context.Context, tx pgx.Tx, limit int) (int, error) {
	if alone, err := k.q.tryLock(ctx, tx, "roll-up"); err != nil || !alone {
		return 0, err
	}
	column, err := k.check(ctx, tx)
	if err != nil {
		return 0, err
	}
	rows, err := tx.Query(ctx, k.q.text(expiredWriters), limit)
	if err != nil {
		return 0, err
	}
	dead, err := pgx.CollectRows(rows, pgx.RowTo[[16]byte])
	if err != nil {
		return 0, err
	}
	var b pgx.Batch
	b.Queue(k.q.text(dropBuckets), k.o.KeepBuckets)
	b.Queue(k.q.text(dropTombstones), keepTombstones)
	if len(dead) > 0 {
		if err := k.addUpUniques(ctx, tx, dead, column); err != nil {
			return 0, err
		}
		b.Queue(k.q.text(addUpCounters), dead, base)
		b.Queue(k.q.text(addUpBuckets), dead, base)
		b.Queue(k.q.text(bury), dead)
	}
	return len(dead), tx.SendBatch(ctx, &b).Close()
}

// tryLock takes the lock for one kind of work until the transaction ends, and
// reports false if somebody else has it.
func (q queries) tryLock(ctx context.Context, tx pgx.Tx, work string) (ok bool, err error) {
	err = tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))`, lockName(work, q)).Scan(&ok)
	return ok, err
}
