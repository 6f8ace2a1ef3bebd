package pgsink

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
)

// role makes a role that may do nothing, and returns a pool that acts as it.
func (p *place) role(name string) (string, *pgxpool.Pool) {
	role := name + " " + strings.ToLower(rand.Text())
	quoted := pgx.Identifier{role}.Sanitize()
	p.exec(`CREATE ROLE ` + quoted)
	p.t.Cleanup(func() {
		_, err := p.pool.Exec(context.Background(), `DROP OWNED BY `+quoted+`; DROP ROLE `+quoted)
		require.NoError(p.t, err)
	})
	pool := p.connect(func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, `SET ROLE `+quoted)
			return err
		}
	})
	return role, pool
}

// Least privilege: with what Grants gives, and no more, all works that should.
func TestRoles(t *testing.T) {
	p := emptyPlace(t)
	owner, ownerPool := p.role("owner")
	writer, writerPool := p.role("writer")
	reader, readerPool := p.role("reader")

	wants(t, Migrate(t.Context(), ownerPool, p.schema), export.ErrDenied)
	p.exec(`CREATE SCHEMA {schema} AUTHORIZATION ` + pgx.Identifier{owner}.Sanitize())
	require.NoError(t, Migrate(t.Context(), ownerPool, p.schema))

	k := p.sink(Options{Pool: writerPool})
	wants(t, k.Write(t.Context(), anySnapshot(t)), export.ErrDenied)
	for range 2 { // grants may be given again
		_, err := ownerPool.Exec(t.Context(), Grants(p.schema, writer, reader))
		require.NoError(t, err)
	}

	e := newEngine()
	e.add(key(t, "hits_total", "a"), 1)
	e.see(key(t, "visitors", "a"), "somebody")
	s := e.snapshot()
	s.Windows = newWindowed(key(t, "hits_total", "a"), 0).snapshot(nil).Windows
	write(t, k, s)
	require.NoError(t, k.RefreshTotals(t.Context(), 0))
	p.expire()
	require.Equal(t, 1, p.rollUp(k))

	r, err := NewReader(readerPool, p.schema)
	require.NoError(t, err)
	totals, err := r.Totals(t.Context(), export.Query{})
	require.NoError(t, err)
	assert.Len(t, totals, 1)
	totals, _, err = r.CachedTotals(t.Context(), export.Query{})
	require.NoError(t, err)
	assert.Len(t, totals, 1)
	uniques, err := r.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	assert.Len(t, uniques, 1)
	_, err = r.Window(t.Context(), key(t, "hits_total", "a"), time.Second, time.Unix(0, 0), time.Now())
	require.NoError(t, err)
	views := []string{"totals"}
	if hasExtension(t) {
		views = append(views, "distinct_counts")
	}
	for _, view := range views {
		_, err = readerPool.Exec(t.Context(), newQueries(p.schema).text(`SELECT * FROM {schema}.`+view))
		require.NoError(t, err)
	}

	k = p.sink(Options{Pool: readerPool})
	wants(t, k.Write(t.Context(), e.snapshot()), export.ErrDenied)
	for _, sql := range []string{
		`DELETE FROM {schema}.series`, `UPDATE {schema}.series SET key = ''`, `TRUNCATE {schema}.counters`,
		`UPDATE {schema}.meta SET version = 0`, `DROP TABLE {schema}.counters`, `CREATE TABLE {schema}.mine ()`,
	} {
		_, err := writerPool.Exec(t.Context(), newQueries(p.schema).text(sql))
		require.Error(t, err)
		wants(t, explain("test", err), export.ErrDenied)
	}
}
