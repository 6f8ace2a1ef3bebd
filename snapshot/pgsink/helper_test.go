package pgsink

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/snapshot"
)

// binary has the server that the tests and examples share.
var binary servertest.Binary

// serverURL is where a superuser is let in. Tests do not wait for the server's disk,
// but benchmarks do.
var serverURL = sync.OnceValue(func() string { return servertest.PostgresURL(&binary, "fsync=on") })

// ServerURL returns the URL of a database for examples, which have no test to ask.
func ServerURL() string { return serverURL() }

func TestMain(m *testing.M) {
	flag.Parse()
	if err := servertest.PostgresAbsent(); err != nil && os.Getenv("HOTCOUNT_CI") != "1" {
		fmt.Println("no PostgreSQL, so examples are left out:", err)
		if run := flag.Lookup("test.run"); run.Value.String() == "" {
			run.Value.Set("^Test")
		}
	}
	code := m.Run()
	databases.drop()
	binary.Close()
	os.Exit(code)
}

// inDatabase returns the URL of another database of the server.
func inDatabase(name string) string {
	u, err := url.Parse(serverURL())
	if err != nil {
		panic(err)
	}
	u.Path = "/" + name
	q := u.Query()
	q.Set("synchronous_commit", "off")
	u.RawQuery = q.Encode()
	return u.String()
}

// needServer skips the test where PostgreSQL is not installed.
func needServer(t testing.TB) {
	t.Helper()
	if err := servertest.PostgresAbsent(); err != nil {
		servertest.Absent(t, "PostgreSQL", err)
	}
}

// extensionIsThere tells whether the server has the extension hll.
var extensionIsThere = sync.OnceValues(func() (there bool, err error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, serverURL())
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'hll')`).Scan(&there)
	return there, err
})

func hasExtension(t testing.TB) bool {
	t.Helper()
	there, err := extensionIsThere()
	require.NoError(t, err)
	return there
}

// needExtension skips a test of what only the extension hll can do.
func needExtension(t testing.TB) {
	t.Helper()
	needServer(t)
	if !hasExtension(t) {
		servertest.Absent(t, "extension hll", errors.New("PostgreSQL has it not"))
	}
}

// databases are this test binary's own, as an extension is there or not for a
// whole database.
var databases databaseSet

type databaseSet struct {
	mu    sync.Mutex
	names map[bool]string // by whether it has the extension hll
}

func (d *databaseSet) named(t testing.TB, extension bool) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name := d.names[extension]; name != "" {
		return name
	}
	name := "hotcount_test_" + strings.ToLower(rand.Text())
	execOn(t, serverURL(), "CREATE DATABASE "+name)
	if d.names == nil {
		d.names = make(map[bool]string)
	}
	d.names[extension] = name
	if extension {
		execOn(t, inDatabase(name), "CREATE EXTENSION hll")
	}
	return name
}

func (d *databaseSet) drop() {
	for _, name := range d.names {
		if conn, err := pgx.Connect(context.Background(), serverURL()); err == nil {
			_, _ = conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
			_ = conn.Close(context.Background())
		}
	}
}

func execOn(t testing.TB, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// A place is a schema of a test's own.
type place struct {
	t      testing.TB
	dsn    string
	pool   *pgxpool.Pool
	schema string
}

// newPlace returns a migrated schema, in a database with the extension hll where the
// server has that.
func newPlace(t testing.TB) *place {
	t.Helper()
	p := emptyPlace(t)
	p.migrate()
	return p
}

func emptyPlace(t testing.TB) *place {
	t.Helper()
	needServer(t)
	return placeAt(t, inDatabase(databases.named(t, hasExtension(t))))
}

// plainPlace returns an empty schema in a database without the extension hll.
func plainPlace(t testing.TB) *place {
	t.Helper()
	needServer(t)
	return placeAt(t, inDatabase(databases.named(t, false)))
}

// privatePlace returns a migrated schema on a server of the test's own, for tests
// that need many connections, or kill it.
func privatePlace(t testing.TB) (*place, *servertest.Server) {
	t.Helper()
	s := servertest.Postgres(t)
	p := placeAt(t, dsnOf(s))
	p.migrate()
	return p, s
}

func dsnOf(s *servertest.Server) string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", s.Port())
}

func placeAt(t testing.TB, dsn string) *place {
	p := &place{t: t, dsn: dsn, schema: `Test "` + rand.Text() + `"`}
	p.pool = p.connect(func(*pgxpool.Config) {})
	t.Cleanup(func() {
		_, err := p.pool.Exec(context.Background(), newQueries(p.schema).text("DROP SCHEMA IF EXISTS {schema} CASCADE"))
		require.NoError(t, err)
	})
	return p
}

// connect returns a pool of connections. In benchmarks they wait for the disk.
func (p *place) connect(change func(*pgxpool.Config)) *pgxpool.Pool {
	p.t.Helper()
	c, err := pgxpool.ParseConfig(p.dsn)
	require.NoError(p.t, err)
	c.MaxConns = 8
	if _, bench := p.t.(*testing.B); bench {
		c.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	}
	change(c)
	pool, err := pgxpool.NewWithConfig(p.t.Context(), c)
	require.NoError(p.t, err)
	p.t.Cleanup(pool.Close)
	return pool
}

func (p *place) migrate() {
	p.t.Helper()
	require.NoError(p.t, Migrate(p.t.Context(), p.pool, p.schema))
}

func (p *place) sink(o Options) *Sink {
	p.t.Helper()
	o.Pool = cmp.Or(o.Pool, p.pool)
	o.Schema = p.schema
	k, err := New(o)
	require.NoError(p.t, err)
	return k
}

func (p *place) reader() *Reader {
	p.t.Helper()
	r, err := NewReader(p.pool, p.schema)
	require.NoError(p.t, err)
	return r
}

func (p *place) exec(sql string, args ...any) {
	p.t.Helper()
	ctx := context.WithoutCancel(p.t.Context()) // for cleanups too
	_, err := p.pool.Exec(ctx, newQueries(p.schema).text(sql), args...)
	require.NoError(p.t, err)
}

// query returns the one value that sql selects.
func query[T any](p *place, sql string, args ...any) (v T) {
	p.t.Helper()
	require.NoError(p.t, p.pool.QueryRow(p.t.Context(), newQueries(p.schema).text(sql), args...).Scan(&v))
	return v
}

// expire ends the lease of every writer.
func (p *place) expire() {
	p.t.Helper()
	p.exec(`UPDATE {schema}.writers SET expires = '-infinity'`)
}

func (p *place) rollUp(k *Sink) int {
	p.t.Helper()
	n, err := k.RollUp(p.t.Context())
	require.NoError(p.t, err)
	return n
}

// totals returns all totals, by the text form of their keys.
func (p *place) totals() map[string]int64 {
	p.t.Helper()
	totals, err := p.reader().Totals(p.t.Context(), export.Query{Limit: 1_000_000})
	require.NoError(p.t, err)
	m := make(map[string]int64)
	for _, t := range totals {
		m[t.Key.String()] = t.Value
	}
	return m
}

// tables are those with what a restored server would have lost.
var tables = []string{"series", "writers", "counters", "uniques", "buckets"}

// dump keeps what the tables hold, for restore.
func (p *place) dump() {
	p.t.Helper()
	for _, table := range tables {
		p.exec(`DROP TABLE IF EXISTS {schema}.old_` + table)
		p.exec(`CREATE TABLE {schema}.old_` + table + ` AS TABLE {schema}.` + table)
	}
}

func (p *place) restore() {
	p.t.Helper()
	for _, table := range tables {
		p.exec(`TRUNCATE {schema}.` + table)
		p.exec(`INSERT INTO {schema}.` + table + ` OVERRIDING SYSTEM VALUE TABLE {schema}.old_` + table)
	}
	// Ids are given once more, to other series.
	p.exec(`SELECT setval(pg_get_serial_sequence('{schema}.series', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM {schema}.series), false)`)
}

func write(t testing.TB, k *Sink, s *snapshot.Snapshot) {
	t.Helper()
	require.NoError(t, k.Write(t.Context(), s))
}
