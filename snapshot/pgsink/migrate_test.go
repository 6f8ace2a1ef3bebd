package pgsink

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const columns = `SELECT string_agg(table_name || '.' || column_name || ' ' || udt_name, ' ' ORDER BY table_name, ordinal_position)
	FROM information_schema.columns WHERE table_schema = $1`

// Idempotence: by many at once, or again, the tables are made once.
func TestMigrateIsIdempotent(t *testing.T) {
	p := emptyPlace(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { assert.NoError(t, Migrate(t.Context(), p.pool, p.schema)) })
	}
	wg.Wait()
	before := query[string](p, columns, p.schema)
	write(t, p.sink(Options{}), anySnapshot(t))
	p.migrate()
	assert.Equal(t, before, query[string](p, columns, p.schema))
	assert.Len(t, p.totals(), 1)
	assert.Equal(t, version, query[int](p, `SELECT version FROM {schema}.meta`))
}

func TestMigrateIntoDefaultSchema(t *testing.T) {
	p := plainPlace(t)
	p.schema = DefaultSchema
	t.Cleanup(func() { p.exec(`DROP SCHEMA hotcount CASCADE`) })
	require.NoError(t, Migrate(t.Context(), p.pool, ""))
	write(t, p.sink(Options{Schema: ""}), anySnapshot(t))
	assert.Len(t, p.totals(), 1)
}

// An extension that comes later is used after another Migrate; without one,
// uniques are exact in Go all the same.
func TestExtensionComesLater(t *testing.T) {
	needExtension(t)
	p := plainPlace(t)
	p.migrate()
	visitors := key(t, "visitors", "a")
	e := newEngine()
	e.see(visitors, "somebody")
	write(t, p.sink(Options{}), e.snapshot())
	assert.EqualValues(t, 1, p.uniques()[visitors.String()].Estimate().Count)

	p.exec(`CREATE EXTENSION hll`)
	t.Cleanup(func() { p.exec(`DROP EXTENSION hll CASCADE`) })
	p.migrate()
	k := p.sink(Options{})
	e.see(visitors, "somebody else")
	write(t, k, e.snapshot())
	assert.InDelta(t, 2, query[float64](p, `SELECT estimate FROM {schema}.distinct_counts`), 0.1)
	p.expire()
	require.Equal(t, 1, p.rollUp(k))
	assert.InDelta(t, 2, query[float64](p, `SELECT estimate FROM {schema}.distinct_counts`), 0.1)
}
