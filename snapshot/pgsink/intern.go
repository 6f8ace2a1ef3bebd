package pgsink

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
)

// chunk is how many rows go into one statement: enough for its fixed cost not to
// matter, and few enough for the server to hold them in memory.
const chunk = 10_000

// idCache has ids of series that flushes of one source have read. Series are
// never deleted, so the ids hold as long as the server has the flush that read
// them, which the mark of its last one tells. A server that was restored may give
// the same ids to other series.
type idCache struct {
	mark  sinkkit.Mark // of the last flush that is held
	held  map[series.Key]int64
	tried map[series.Key]int64 // read by the flush that has begun since
}

// spareIDs is how many more ids than needed may be kept: those of series that
// the engine has let go.
const spareIDs = 10_000

// settle takes note of a standing, and of the mark that has been tried.
func (c *idCache) settle(st, tried sinkkit.Mark) {
	if st == tried && !tried.IsZero() {
		c.hold(tried)
	}
	if st != c.mark {
		c.mark, c.held = st, nil
	}
	c.tried = make(map[series.Key]int64)
}

// hold says that the flush of this mark is held.
func (c *idCache) hold(mark sinkkit.Mark) {
	if c.held == nil {
		c.held = make(map[series.Key]int64, len(c.tried))
	}
	for key, id := range c.tried {
		c.held[key] = id
	}
	c.mark, c.tried = mark, nil
}

// shrink forgets all if that is far more than n.
func (c *idCache) shrink(n int) {
	if len(c.held) > 2*n+spareIDs {
		c.mark, c.held = sinkkit.Mark{}, nil
	}
}

func (c *idCache) id(key series.Key) (id int64, ok bool) {
	if id, ok = c.held[key]; !ok {
		id, ok = c.tried[key]
	}
	return id, ok
}

// A named is a series with its text form.
type named struct {
	text string
	key  series.Key
}

// unknown returns which of keys have no id yet, by their text form.
func (c *idCache) unknown(keys []series.Key) (unknown []named) {
	for _, key := range keys {
		if _, ok := c.id(key); !ok {
			c.tried[key] = 0
			unknown = append(unknown, named{key.String(), key})
		}
	}
	slices.SortFunc(unknown, func(a, b named) int { return strings.Compare(a.text, b.text) })
	return unknown
}

// intern returns the ids of the series of these keys, and gives new ones to
// series that have none. Locks on new series are taken in the order of the text
// forms.
func (k *Sink) intern(ctx context.Context, tx pgx.Tx, c *idCache, keys []series.Key) ([]int64, error) {
	if unknown := c.unknown(keys); len(unknown) > 0 {
		missing, err := k.lookUp(ctx, tx, c, unknown)
		if err == nil && len(missing) > 0 {
			if err = k.make(ctx, tx, missing); err == nil {
				_, err = k.lookUp(ctx, tx, c, missing)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	ids := make([]int64, len(keys))
	for i, key := range keys {
		ids[i], _ = c.id(key)
	}
	return ids, nil
}

// lookUp reads the ids of series, and returns the series that have none.
func (k *Sink) lookUp(ctx context.Context, tx pgx.Tx, c *idCache, series []named) (missing []named, err error) {
	sql := k.q.text(`
		SELECT coalesce(s.id, 0)
		FROM unnest($1::bytea[]) WITH ORDINALITY AS k (key, n)
		LEFT JOIN {schema}.series s ON substring(s.key, 1, 1024) = substring(k.key, 1, 1024) AND s.key = k.key
		ORDER BY k.n`)
	var b pgx.Batch
	for part := range slices.Chunk(series, chunk) {
		b.Queue(sql, texts(part)).Query(func(rows pgx.Rows) error {
			ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			for i, id := range ids {
				c.tried[part[i].key] = id
				if id == 0 {
					missing = append(missing, part[i])
				}
			}
			return err
		})
	}
	return missing, tx.SendBatch(ctx, &b).Close()
}

func texts(series []named) [][]byte {
	texts := make([][]byte, len(series))
	for i, n := range series {
		texts[i] = []byte(n.text)
	}
	return texts
}

// make gives ids to series that have none, unless others do so meanwhile.
func (k *Sink) make(ctx context.Context, tx pgx.Tx, series []named) error {
	sql := k.q.text(`
		INSERT INTO {schema}.series (key, name, label)
		SELECT key, name, label
		FROM unnest($1::bytea[], $2::text[], $3::text[]) WITH ORDINALITY AS k (key, name, label, n)
		ORDER BY n
		ON CONFLICT DO NOTHING`)
	var b pgx.Batch
	for part := range slices.Chunk(series, chunk) {
		names, labels := make([]string, len(part)), make([]string, len(part))
		for i, n := range part {
			names[i], labels[i] = n.key.Name(), legible(n.text)
		}
		b.Queue(sql, texts(part), names, labels)
	}
	return tx.SendBatch(ctx, &b).Close()
}

// legible returns text as a value of type text, which holds UTF-8 without zero
// bytes.
func legible(text string) string {
	const replacement = "\uFFFD"
	return strings.ReplaceAll(strings.ToValidUTF8(text, replacement), "\x00", replacement)
}
