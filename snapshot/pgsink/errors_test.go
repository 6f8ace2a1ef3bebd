package pgsink

import (
	"context"
	"errors"
	"fmt"
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
func wants(t *testing.T, err, kind error, terminal bool) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	assert.Equal(t, terminal, export.IsTerminal(err), "terminal: %v", err)
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
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), ErrUnavailable, false)
	_, err := p.reader().Totals(t.Context(), export.Query{})
	wants(t, err, ErrUnavailable, false)
}

func TestNoTables(t *testing.T) {
	p := emptyPlace(t, false)
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), ErrSchema, true)
	_, err := p.reader().Totals(t.Context(), export.Query{})
	wants(t, err, ErrSchema, true)
	p.migrate()
	p.exec(`UPDATE {schema}.meta SET version = version + 1`)
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), ErrSchema, true)
	wants(t, Migrate(t.Context(), p.pool, p.schema), ErrSchema, true)
	p.exec(`UPDATE {schema}.meta SET version = 0`)
	wants(t, p.sink(Options{}).Write(t.Context(), anySnapshot(t)), ErrSchema, true)
}

func TestNoDatabase(t *testing.T) {
	p := newPlace(t)
	k := p.sink(Options{Pool: p.connect(func(c *pgxpool.Config) { c.ConnConfig.Database = "hotcount_none" })})
	wants(t, k.Write(t.Context(), anySnapshot(t)), ErrSchema, true)
}

// As servers are that have run out of disk, or are about to become replicas.
func TestReadOnlyTransactions(t *testing.T) {
	p := newPlace(t)
	k := p.sink(Options{Pool: p.connect(func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	})})
	wants(t, k.Write(t.Context(), anySnapshot(t)), ErrReadOnly, false)
	wants(t, second(k.RollUp(t.Context())), ErrReadOnly, false)
}

func second[T any](_ T, err error) error { return err }

// A sink that is pointed to a replica fails, and a Reader of it does not.
func TestReplica(t *testing.T) {
	p, server := privatePlace(t)
	s := anySnapshot(t)
	write(t, p.sink(Options{}), s)
	r := &place{t: t, dsn: dsnOf(server.Standby(false)), schema: p.schema}
	r.pool = r.connect(func(*pgxpool.Config) {})
	wants(t, r.sink(Options{}).Write(t.Context(), s), ErrReadOnly, false)
	assert.Equal(t, p.totals(), r.totals())
}

// What a server says while it is out of something, or in somebody's way.
func TestErrorsOfTheServer(t *testing.T) {
	p := newPlace(t)
	k, s := p.sink(Options{}), anySnapshot(t)
	for code, want := range map[string]error{
		"53100": ErrFull, "53200": ErrFull, "53300": ErrFull,
		"40001": ErrConflict, "40P01": ErrConflict, "55P03": ErrConflict, "57014": ErrConflict,
		"57P01": ErrUnavailable, "58030": ErrUnavailable,
	} {
		t.Run(code, func(t *testing.T) {
			p.exec(`CREATE OR REPLACE FUNCTION {schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no' USING ERRCODE = '` + code + `'; END $$`)
			p.exec(`CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON {schema}.counters EXECUTE FUNCTION {schema}.fail()`)
			wants(t, k.Write(t.Context(), s), want, false)
		})
	}
	assert.Empty(t, p.totals(), "a flush is one transaction")
	p.exec(`DROP TRIGGER fail ON {schema}.counters`)
	write(t, k, s)
	assert.Len(t, p.totals(), 1)
}

// No error that is not about the configuration makes an exporter give up.
func TestErrorsAreTerminalOrNot(t *testing.T) {
	for err, terminal := range map[error]bool{
		ErrAuth: true, ErrDenied: true, ErrSchema: true,
		ErrReadOnly: false, ErrFull: false, ErrConflict: false, ErrUnavailable: false, ErrMalformed: false,
		context.DeadlineExceeded: false, export.ErrTooLate: false,
	} {
		wants(t, explain("test", fmt.Errorf("wrapped: %w", err)), err, terminal)
	}
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
		err := k.Write(ctx, e.snapshot())
		wants(t, err, ErrUnavailable, false)
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
