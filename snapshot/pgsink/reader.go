package pgsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
)

// A Reader reads what the sinks of a fleet have written. Its methods are safe for
// concurrent use. Each of them is one statement, and so sees whole flushes.
type Reader struct {
	pool *pgxpool.Pool
	q    queries
}

var _ export.Reader = (*Reader)(nil)

// NewReader returns a Reader of the tables in schema; "" means DefaultSchema. It
// does not connect, and any replica will do.
func NewReader(pool *pgxpool.Pool, schema string) (*Reader, error) {
	if pool == nil {
		return nil, errors.New("hotcount/pgsink: the pool is nil")
	}
	return &Reader{pool, newQueries(schema)}, nil
}

// pageSQL is the range of series of a page: text forms from $1 on and before $2,
// after $3. The index has their first KiB.
const pageSQL = `
	substring(s.key, 1, 1024) >= substring(greatest($1::bytea, $3::bytea), 1, 1024)
	AND substring(s.key, 1, 1024) <= substring($2::bytea, 1, 1024)
	AND s.key >= $1 AND s.key < $2 AND s.key > $3`

// page returns the arguments of pageSQL, and for $4 the number of series. The
// mode makes the server plan for them: a plan for any range reads all series.
func page(q export.Query) []any {
	return []any{pgx.QueryExecModeCacheDescribe, []byte(q.Prefix), afterPrefix(q.Prefix), []byte(q.After.String()), cmp.Or(q.Limit, export.DefaultLimit)}
}

// afterPrefix returns the least string after all that begin with prefix, or one
// after all series, which begin with ASCII.
func afterPrefix(prefix string) []byte {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return []byte{0xff}
}

const totalsSQL = `
	SELECT s.key, t.value::text, t.writers
	FROM {schema}.series s CROSS JOIN LATERAL (
		SELECT sum(value) + sum(carry) AS value, count(*) FILTER (WHERE writer <> $5) AS writers
		FROM {schema}.counters WHERE series = s.id HAVING count(*) > 0
	) t
	WHERE ` + pageSQL + `
	ORDER BY substring(s.key, 1, 1024), s.key LIMIT $4`

// Totals implements export.Reader. Sums wrap around, as an int64 does.
func (r *Reader) Totals(ctx context.Context, q export.Query) ([]export.CounterTotal, error) {
	return r.totals(ctx, q, totalsSQL, append(page(q), base)...)
}

func (r *Reader) totals(ctx context.Context, q export.Query, sql string, args ...any) ([]export.CounterTotal, error) {
	rows, err := r.pool.Query(ctx, r.q.text(sql), args...)
	if err != nil {
		return nil, partial(ctx, "series", q.After.String(), err)
	}
	defer rows.Close()
	var totals []export.CounterTotal
	last := q.After.String()
	for rows.Next() {
		var text []byte
		var value string
		var t export.CounterTotal
		if err := rows.Scan(&text, &value, &t.Writers); err != nil {
			return totals, partial(ctx, "series", last, err)
		}
		if t.Key, err = parseKey(text); err != nil {
			return totals, explain("read totals", err)
		}
		if t.Value, err = parseSum(value); err != nil {
			return totals, explain("read totals", err)
		}
		totals, last = append(totals, t), string(text)
	}
	return totals, partial(ctx, "series", last, rows.Err())
}

// parseSum returns the low 64 bits of a decimal number.
func parseSum(s string) (int64, error) {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return 0, fmt.Errorf("%w: sum %q", export.ErrForeign, s)
	}
	low := n.And(n, new(big.Int).SetUint64(math.MaxUint64)) // two's complement, also of a negative n
	return int64(low.Uint64()), nil
}

func parseKey(text []byte) (series.Key, error) {
	key, err := series.ParseKey(string(text))
	if err != nil {
		return series.Key{}, fmt.Errorf("%w: %w", export.ErrForeign, err)
	}
	return key, nil
}

// partial says that an answer breaks off after one of several things: if err is
// that ctx has ended or the server has gone, what came before still holds.
func partial(ctx context.Context, things, after string, err error) error {
	if err == nil {
		return nil
	}
	explained := explain("read", err)
	if ctx.Err() == nil && !errors.Is(explained, export.ErrUnavailable) {
		return explained
	}
	missing := "all " + things
	if after != "" {
		missing = fmt.Sprintf("%s after %s", things, after)
	}
	return &export.PartialError{Missing: []string{missing}, Err: explained}
}

const cachedSQL = `
	SELECT s.key, t.value::text, t.writers
	FROM {schema}.series s JOIN {schema}.cached_totals t ON t.series = s.id
	WHERE ` + pageSQL + `
	ORDER BY substring(s.key, 1, 1024), s.key LIMIT $4`

// CachedTotals returns totals as RefreshTotals has added them up, and how old they
// are at most: negative if that has never been called. Series that are newer than
// that are missing. It costs the same however many writers there are.
func (r *Reader) CachedTotals(ctx context.Context, q export.Query) ([]export.CounterTotal, time.Duration, error) {
	// Asked for first, the age is that of these totals or of older ones.
	var age *time.Duration
	err := r.pool.QueryRow(ctx, r.q.text(`SELECT clock_timestamp() - nullif(at, '-infinity') FROM {schema}.cached`)).Scan(&age)
	if err != nil {
		return nil, 0, partial(ctx, "series", q.After.String(), err)
	}
	if age == nil {
		return nil, -1, nil
	}
	asked := time.Now()
	totals, err := r.totals(ctx, q, cachedSQL, page(q)...)
	return totals, *age + time.Since(asked), err
}

const uniquesSQLPage = `
	SELECT s.id, s.key, u.hash, u.seed, u.sketch
	FROM (
		SELECT s.id, s.key FROM {schema}.series s
		WHERE ` + pageSQL + ` AND EXISTS (SELECT FROM {schema}.uniques WHERE series = s.id)
		ORDER BY substring(s.key, 1, 1024), s.key LIMIT $4
	) s JOIN {schema}.uniques u ON u.series = s.id
	ORDER BY s.key, u.hash, u.seed`

// Uniques implements export.Reader. A series whose writers hash in different
// ways comes once for each, and counts once for the Limit.
func (r *Reader) Uniques(ctx context.Context, q export.Query) ([]export.UniquesTotal, error) {
	rows, err := r.pool.Query(ctx, r.q.text(uniquesSQLPage), page(q)...)
	if err != nil {
		return nil, partial(ctx, "series", q.After.String(), err)
	}
	unions, readErr := collectUnions(rows)
	if n := len(unions); readErr != nil && n > 0 { // more rows of the last may be missing
		for id := unions[n-1].series; len(unions) > 0 && unions[len(unions)-1].series == id; {
			unions = unions[:len(unions)-1]
		}
	}
	totals := make([]export.UniquesTotal, 0, len(unions))
	last := q.After.String()
	for _, u := range unions {
		key, err := parseKey(u.key)
		if err != nil {
			return totals, explain("read uniques", err)
		}
		totals, last = append(totals, export.UniquesTotal{Key: key, Scheme: u.scheme, Sketch: u.sketch}), string(u.key)
	}
	return totals, partial(ctx, "series", last, readErr)
}

const windowSQL = `
	SELECT b.start, sum(b.count)::text
	FROM {schema}.series s JOIN {schema}.buckets b ON b.series = s.id
	WHERE substring(s.key, 1, 1024) = substring($1::bytea, 1, 1024) AND s.key = $1
	AND b.resolution = $2 AND b.start >= $3 AND b.start < $4
	GROUP BY b.start HAVING sum(b.count) <> 0 ORDER BY b.start`

// Window implements export.Reader. Sums wrap around, as an int64 does.
func (r *Reader) Window(ctx context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]export.BucketTotal, error) {
	rows, err := r.pool.Query(ctx, r.q.text(windowSQL), []byte(key.String()), resolution, from, to)
	if err != nil {
		return nil, partial(ctx, "buckets", "", err)
	}
	defer rows.Close()
	var buckets []export.BucketTotal
	last := ""
	for rows.Next() {
		var b export.BucketTotal
		var count string
		if err := rows.Scan(&b.Start, &count); err != nil {
			return buckets, partial(ctx, "buckets", last, err)
		}
		if b.Count, err = parseSum(count); err != nil {
			return buckets, explain("read window", err)
		}
		buckets, last = append(buckets, b), b.Start.UTC().Format(time.RFC3339Nano)
	}
	return buckets, partial(ctx, "buckets", last, rows.Err())
}
