package pgsink

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hotcount/hotcount/export"
)

// DefaultSchema is the schema that is used if none is named.
const DefaultSchema = "hotcount"

var (
	//go:embed schema/tables.sql
	tablesSQL string
	//go:embed schema/hll.sql
	hllSQL string
	//go:embed schema/grants.sql
	grantsSQL string
)

// migrations lead from each version to the next: the first from no tables to
// version 1. Those that have been released do not change.
var migrations = [...]string{tablesSQL}

// version is that of the tables that this package works with.
const version = len(migrations)

// Migrate makes the tables in the named schema, or brings those of an older
// version up to date, in one transaction. It changes nothing if there is nothing
// to do, and may be called by several processes at once. Call it as the role
// that is to own the tables, which needs no more than CREATE on the schema, and
// on the database if the schema does not exist.
//
// If the database has the extension hll, uniques get a column that it can count;
// after CREATE EXTENSION, call Migrate once more and start the sinks anew.
func Migrate(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	q := newQueries(schema)
	err := pgx.BeginTxFunc(ctx, pool, readCommitted, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, lockName("migrate", q)); err != nil {
			return err
		}
		return migrate(ctx, tx, q)
	})
	return explain("migrate", err)
}

func migrate(ctx context.Context, tx pgx.Tx, q queries) error {
	have, err := q.begun(ctx, tx)
	if err != nil {
		return err
	}
	if have > version {
		return tooNew(have)
	}
	for _, m := range migrations[have:] {
		if _, err := tx.Exec(ctx, q.text(m)); err != nil {
			return err
		}
	}
	if have < version {
		_, err := tx.Exec(ctx, q.text(`INSERT INTO {schema}.meta (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = excluded.version`), version)
		if err != nil {
			return err
		}
	}
	return q.addRegisters(ctx, tx)
}

// begun makes the schema if there is none, and returns the version of its
// tables.
func (q queries) begun(ctx context.Context, tx pgx.Tx) (have int, err error) {
	var exists, tables bool
	err = tx.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($1 || '.meta') IS NOT NULL`, q.schema).Scan(&exists, &tables)
	switch {
	case err != nil:
		return 0, err
	case !exists:
		_, err := tx.Exec(ctx, q.text(`CREATE SCHEMA {schema}`))
		return 0, err
	case !tables:
		return 0, nil
	}
	err = tx.QueryRow(ctx, q.text(`SELECT version FROM {schema}.meta`)).Scan(&have)
	return have, err
}

// addRegisters adds what needs the extension hll, if that is there and it has
// not been added.
func (q queries) addRegisters(ctx context.Context, tx pgx.Tx) error {
	var extension string
	err := tx.QueryRow(ctx, `SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'hll'`).Scan(&extension)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, column, err := q.shape(ctx, tx); err != nil || column != "" {
		return err
	}
	_, err = tx.Exec(ctx, strings.ReplaceAll(q.text(hllSQL), "{hll}", extension))
	return err
}

// shape returns the version of the tables, and the type of the column for the
// extension hll, as SQL names it, or "" if there is no such column.
func (q queries) shape(ctx context.Context, tx pgx.Tx) (have int, column string, err error) {
	err = tx.QueryRow(ctx, q.text(`
		SELECT version, coalesce((
			SELECT quote_ident(n.nspname) || '.' || quote_ident(t.typname)
			FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
			WHERE a.attrelid = ($1 || '.uniques')::regclass AND a.attname = 'registers' AND NOT a.attisdropped), '')
		FROM {schema}.meta`), q.schema).Scan(&have, &column)
	return have, column, err
}

// Grants returns the SQL statements that give a role what a Sink needs, and
// another what a Reader needs, and no more. Run them as the owner of the tables,
// after Migrate.
func Grants(schema, writer, reader string) string {
	return strings.NewReplacer(
		"{writer}", pgx.Identifier{writer}.Sanitize(),
		"{reader}", pgx.Identifier{reader}.Sanitize(),
	).Replace(newQueries(schema).text(grantsSQL))
}

// queries are SQL texts about the tables of one schema.
type queries struct {
	schema string // quoted
}

func newQueries(schema string) queries {
	if schema == "" {
		schema = DefaultSchema
	}
	return queries{pgx.Identifier{schema}.Sanitize()}
}

// text returns a statement about this schema.
func (q queries) text(sql string) string { return strings.ReplaceAll(sql, "{schema}", q.schema) }

// readCommitted is what the statements are written for, whatever the database's
// default: a statement that has waited for a lock sees what the other has done.
var readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}

// lockName returns what to hash for the advisory lock of one kind of work.
func lockName(work string, q queries) string { return "hotcount " + work + " " + q.schema }

func tooNew(have int) error {
	return fmt.Errorf("%w: tables of version %d, this program knows up to %d", export.ErrSchema, have, version)
}
