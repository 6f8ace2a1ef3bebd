package pgsink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
)

// Pages of any length and prefix are what is selected of all series in order.
func TestPages(t *testing.T) {
	p := newPlace(t)
	keys := oddKeys(t)
	e := newEngine()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		keys = append(keys, key(t, "pages_total", strings.Repeat("x", rng.IntN(2000))+fmt.Sprint(rng.IntN(10))))
	}
	var all []string
	for _, k := range keys {
		e.add(k, 1)
		e.see(k, "somebody")
		all = append(all, k.String())
	}
	slices.Sort(all)
	all = slices.Compact(all)
	write(t, p.sink(Options{}), e.snapshot())
	require.NoError(t, p.sink(Options{}).RefreshTotals(t.Context(), 0))

	r := p.reader()
	lists := map[string]func(export.Query) ([]string, error){
		"totals": func(q export.Query) (texts []string, err error) {
			totals, err := r.Totals(t.Context(), q)
			for _, t := range totals {
				texts = append(texts, t.Key.String())
			}
			return texts, err
		},
		"cached": func(q export.Query) (texts []string, err error) {
			totals, _, err := r.CachedTotals(t.Context(), q)
			for _, t := range totals {
				texts = append(texts, t.Key.String())
			}
			return texts, err
		},
		"uniques": func(q export.Query) (texts []string, err error) {
			totals, err := r.Uniques(t.Context(), q)
			for _, t := range totals {
				texts = append(texts, t.Key.String())
			}
			return texts, err
		},
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			for _, prefix := range []string{"", "odd_total", `odd_total{l="` + strings.Repeat("x", 1030), `pages_total{l="x`, "none", "\xff", `odd_total{l="` + "\xff"} {
				for _, limit := range []int{0, 1, 7, 1000} {
					if limit == 1 && prefix != "odd_total" {
						continue
					}
					var got []string
					for q := (export.Query{Prefix: prefix, Limit: limit}); ; {
						page, err := list(q)
						require.NoError(t, err)
						got = append(got, page...)
						if len(page) > 0 {
							q.After, err = parseKey([]byte(page[len(page)-1]))
							require.NoError(t, err)
						}
						if len(page) < max(limit, 1) || limit == 0 {
							break
						}
					}
					var want []string
					for _, text := range all {
						if strings.HasPrefix(text, prefix) {
							want = append(want, text)
						}
					}
					assert.Equal(t, want, got, "prefix %.30q limit %d", prefix, limit)
				}
			}
		})
	}
}

func TestAfterPrefix(t *testing.T) {
	for prefix, want := range map[string]string{"": "\xff", "a": "b", "a\xff": "b", "a\xff\xff": "b", "\xff": "\xff", "az": "a{"} {
		assert.Equal(t, want, string(afterPrefix(prefix)), "%q", prefix)
	}
}

func TestCachedTotals(t *testing.T) {
	p := newPlace(t)
	a := key(t, "hits_total", "a")
	k, e, r := p.sink(Options{}), newEngine(), p.reader()
	cached := func() (n int64, age time.Duration) {
		t.Helper()
		totals, age, err := r.CachedTotals(t.Context(), export.Query{})
		require.NoError(t, err)
		for _, total := range totals {
			assert.Equal(t, 1, total.Writers)
			n += total.Value
		}
		return n, age
	}
	n, age := cached()
	assert.Zero(t, n)
	assert.Negative(t, age, "never refreshed")

	for want := range int64(3) {
		e.add(a, 1)
		write(t, k, e.snapshot())
		require.NoError(t, k.RefreshTotals(t.Context(), time.Hour), "it is not that old")
		n, age = cached()
		assert.Equal(t, max(want, 1), n)
		assert.Positive(t, age)
		assert.Less(t, age, time.Hour)
		require.NoError(t, k.RefreshTotals(t.Context(), 0))
		n, _ = cached()
		assert.Equal(t, want+1, n)
	}
}

// A shortConn breaks after some bytes of answers.
type shortConn struct {
	net.Conn
	left int
}

func (c *shortConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, &net.OpError{Op: "read", Err: errors.New("the cable is cut")}
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// An answer that breaks off says where, and one can go on from there.
func TestPartialAnswers(t *testing.T) {
	p := newPlace(t)
	e := newEngine()
	for n := range 3000 {
		e.add(key(t, "hits_total", fmt.Sprint(n)), 1)
		if n < 20 {
			for v := range 1000 {
				e.see(key(t, "visitors", fmt.Sprint(n)), fmt.Sprint(v))
			}
		}
	}
	write(t, p.sink(Options{}), e.snapshot())
	short, err := NewReader(p.connect(func(c *pgxpool.Config) {
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &shortConn{conn, 40_000}, err
		}
	}), p.schema)
	require.NoError(t, err)

	some, err := short.Totals(t.Context(), export.Query{Limit: 5000})
	partial, ok := errors.AsType[*export.PartialError](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, err, export.ErrUnavailable)
	require.NotEmpty(t, some)
	last := some[len(some)-1].Key
	assert.Equal(t, []string{"series after " + last.String()}, partial.Missing)
	rest, err := p.reader().Totals(t.Context(), export.Query{Limit: 5000, After: last})
	require.NoError(t, err)
	assert.Len(t, append(some, rest...), 3000)

	uniques, err := short.Uniques(t.Context(), export.Query{})
	_, ok = errors.AsType[*export.PartialError](err)
	require.True(t, ok, "%v", err)
	require.NotEmpty(t, uniques)
	for _, u := range uniques {
		assert.Equal(t, e.uniques[u.Key.String()].Estimate(), u.Sketch.Estimate())
	}
	restUniques, err := p.reader().Uniques(t.Context(), export.Query{After: uniques[len(uniques)-1].Key})
	require.NoError(t, err)
	assert.Len(t, append(uniques, restUniques...), 20)
}

func TestReaderDeadline(t *testing.T) {
	p := newPlace(t)
	write(t, p.sink(Options{}), anySnapshot(t))
	err := pgx.BeginTxFunc(t.Context(), p.pool, readCommitted, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), newQueries(p.schema).text(`LOCK TABLE {schema}.counters, {schema}.uniques, {schema}.buckets`)); err != nil {
			return err
		}
		hits := key(t, "hits_total", "a")
		for _, test := range []struct {
			missing string
			read    func(context.Context) error
		}{
			{"all series", func(ctx context.Context) error { return second(p.reader().Totals(ctx, export.Query{})) }},
			{"all series", func(ctx context.Context) error { return second(p.reader().Uniques(ctx, export.Query{})) }},
			{"all buckets", func(ctx context.Context) error {
				return second(p.reader().Window(ctx, hits, time.Second, time.Time{}, time.Now()))
			}},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				defer cancel()
				p.awaitLock()
			}()
			err := test.read(ctx)
			partial, ok := errors.AsType[*export.PartialError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, []string{test.missing}, partial.Missing)
			require.ErrorIs(t, err, context.Canceled)
		}
		return nil
	})
	require.NoError(t, err)
}

func TestMalformedRows(t *testing.T) {
	p := newPlace(t)
	e := newEngine()
	e.see(key(t, "visitors", "a"), "somebody")
	e.add(key(t, "hits_total", "a"), 1)
	write(t, p.sink(Options{}), e.snapshot())
	p.exec(`UPDATE {schema}.uniques SET sketch = 'rubbish'`)
	wants(t, second(p.reader().Uniques(t.Context(), export.Query{})), export.ErrForeign)
	p.exec(`UPDATE {schema}.series SET key = 'rubbish{' || id::text::bytea`)
	wants(t, second(p.reader().Totals(t.Context(), export.Query{})), export.ErrForeign)
}
