package pgsink

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/snapshot"
)

const secret = "a secret"

// wants checks an error of the sink, and that it gives no password away.
func wants(t *testing.T, err, kind error) {
	t.Helper()
	require.Equal(t, kind, export.Kind(err), "%v", err)
	assert.NotContains(t, err.Error(), secret)
}

func anySnapshot(t *testing.T) *snapshot.Snapshot {
	e := newEngine()
	e.add(key(t, "hits_total", "a"), 1)
	return e.snapshot()
}

func TestNoServer(t *testing.T) {
	p := &place{t: t, dsn: fmt.Sprintf("postgres://postgres:a%%20secret@127.0.0.1:%d/test?sslmode=disable", servertest.FreePort(t)), schema: "any"}
	p.pool = p.connect(func(*pgxpool.Config) {})
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), export.ErrUnavailable)
	_, err := p.reader().Totals(t.Context(), export.Query{})
	wants(t, err, export.ErrUnavailable)
}

func TestNoTables(t *testing.T) {
	p := plainPlace(t)
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), export.ErrSchema)
	_, err := p.reader().Totals(t.Context(), export.Query{})
	wants(t, err, export.ErrSchema)
	p.migrate()
	p.exec(`UPDATE {schema}.meta SET version = version + 1`)
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), export.ErrSchema)
	wants(t, Migrate(t.Context(), p.pool, p.schema), export.ErrSchema)
	p.exec(`UPDATE {schema}.meta SET version = 0`)
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), export.ErrSchema)
}

func TestNoDatabase(t *testing.T) {
	p := newPlace(t)
	k := p.sink(Options{Pool: p.connect(func(c *pgxpool.Config) { c.ConnConfig.Database = "hotcount_none" })})
	wants(t, k.Write(t.Context(), anySnapshot(t)), export.ErrSchema)
}

// As servers are that have run out of disk, or are about to become replicas.
func TestReadOnlyTransactions(t *testing.T) {
	p := newPlace(t)
	k := p.sink(Options{Pool: p.connect(func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	})})
	wants(t, k.Write(t.Context(), anySnapshot(t)), export.ErrReadOnly)
	wants(t, second(k.RollUp(t.Context())), export.ErrReadOnly)
}

func second[T any](_ T, err error) error { return err }

// A sink that is pointed to a replica fails, and a Reader of it does not.
func TestReplica(t *testing.T) {
	p, server := privatePlace(t)
	s := anySnapshot(t)
	write(t, p.sink(Options{}), s)
	r := &place{t: t, dsn: dsnOf(server.Standby(false)), schema: p.schema}
	r.pool = r.connect(func(*pgxpool.Config) {})
	wants(t, r.sink(Options{}).Write(t.Context(), s), export.ErrReadOnly)
	assert.Equal(t, p.totals(), r.totals())
}

// What a server says while it is out of something, or in somebody's way.
func TestErrorsOfTheServer(t *testing.T) {
	p := newPlace(t)
	k, s := p.sink(Options{}), anySnapshot(t)
	for code, want := range map[string]error{
		"53100": export.ErrFull, "53200": export.ErrFull, "53300": export.ErrFull,
		"40001": export.ErrInterrupted, "40P01": export.ErrInterrupted, "55P03": export.ErrInterrupted, "57014": export.ErrInterrupted,
		"57P01": export.ErrUnavailable, "58030": export.ErrUnavailable,
	} {
		t.Run(code, func(t *testing.T) {
			p.exec(`CREATE OR REPLACE FUNCTION {schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '` + code + `'; END $$`)
			p.exec(`CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON {schema}.counters EXECUTE FUNCTION {schema}.fail()`)
			wants(t, k.Write(t.Context(), s), want)
		})
	}
	assert.Empty(t, p.totals(), "a flush is one transaction")
	p.exec(`DROP TRIGGER fail ON {schema}.counters`)
	write(t, k, s)
	assert.Len(t, p.totals(), 1)
}

// What is not the server's is not called its failure.
func TestErrorsOfOurOwnAreNoneOfTheServer(t *testing.T) {
	p := newPlace(t)
	pool := p.connect(func(*pgxpool.Config) {})
	pool.Close()
	assert.NoError(t, export.Kind(p.sink(Options{Pool: pool}).Write(t.Context(), anySnapshot(t))))
	s := anySnapshot(t)
	s.Seq = math.MaxUint64
	err := p.sink(Options{}).Write(t.Context(), s)
	require.Error(t, err)
	require.NoError(t, export.Kind(err), "%v", err)
	require.NoError(t, explain("test", nil))
}

func TestDeadline(t *testing.T) {
	p := newPlace(t)
	k, e := p.sink(Options{}), newEngine()
	e.add(key(t, "hits_total", "a"), 1)
	write(t, k, e.snapshot())
	err := pgx.BeginTxFunc(t.Context(), p.pool, readCommitted, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), k.q.text(`SELECT FROM {schema}.writers FOR UPDATE`)); err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { // ends ctx once the flush waits for the lock
			defer cancel(errors.New("time is up"))
			p.awaitLock()
		}()
		require.ErrorIs(t, k.Write(ctx, e.snapshot()), context.Canceled)
		return nil
	})
	require.NoError(t, err)
	write(t, k, e.snapshot())
}

// awaitLock returns when somebody waits for a lock in this database.
func (p *place) awaitLock() {
	for range 100_000 {
		var n int
		err := p.pool.QueryRow(p.t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		if err != nil || n > 0 {
			return
		}
	}
}
