package pgsink

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	cacheIsOld = `SELECT at < clock_timestamp() - $1::interval FROM {schema}.cached`

	fillCache = `
		INSERT INTO {schema}.cached_totals AS have (series, value, writers)
		SELECT series, value, writers FROM {schema}.sums
		ON CONFLICT (series) DO UPDATE SET value = excluded.value, writers = excluded.writers
		WHERE (have.value, have.writers) <> (excluded.value, excluded.writers)`

	stampCache = `UPDATE {schema}.cached SET at = statement_timestamp()`
)

// RefreshTotals adds up all counters into the table cached_totals, unless that is
// at most age old by the server's clock or another process is at it. Call it at
// intervals, in as many processes as you like: one does the work, and all
// readers have the result, see Reader.CachedTotals.
//
// It costs time by the rows of counters: the series times the live writers.
func (k *Sink) RefreshTotals(ctx context.Context, age time.Duration) error {
	err := pgx.BeginTxFunc(ctx, k.o.Pool, readCommitted, func(tx pgx.Tx) error {
		if alone, err := k.q.tryLock(ctx, tx, "totals"); err != nil || !alone {
			return err
		}
		var old bool
		if err := tx.QueryRow(ctx, k.q.text(cacheIsOld), age).Scan(&old); err != nil || !old {
			return err
		}
		// The stamp is of before the rows are read, so the age is never
		// less than it says.
		if _, err := tx.Exec(ctx, k.q.text(stampCache)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, k.q.text(fillCache))
		return err
	})
	return explain("refresh totals", err)
}
