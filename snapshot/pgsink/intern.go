package pgsink

import (
	"context"
	"slices"
	"strings"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/jackc/pgx/v5"
)

// chunk is how many rows go into one statement: enough for its fixed cost not to
// matter, and few enough for the server to hold them in memory.
const chunk = 10_000

// A named is a series with its text form.
type named struct {
	text string
	key  snapshot.Key
}

// intern returns the ids of the series of these rows, in their order, and gives
// new ones to series that have none. Locks on new series are taken in the order
// of the text forms.
func (k *Sink) intern(ctx context.Context, tx pgx.Tx, rows []snapshot.Row, sketches []snapshot.Uniques, buckets []bucket) ([]int64, error) {
	all := make([]named, 0, len(rows)+len(sketches)+len(buckets))
	add := func(key snapshot.Key) {
		if n := len(all); n > 0 && all[n-1].key == key {
			all = append(all, all[n-1])
			return
		}
		all = append(all, named{key.String(), key})
	}
	for _, r := range rows {
		add(r.Key)
	}
	for _, u := range sketches {
		add(u.Key)
	}
	for _, b := range buckets {
		add(b.key)
	}

	distinct := slices.Clone(all)
	slices.SortFunc(distinct, func(a, b named) int { return strings.Compare(a.text, b.text) })
	distinct = slices.CompactFunc(distinct, func(a, b named) bool { return a.text == b.text })
	byText := make(map[string]int64, len(distinct))
	missing, err := k.lookUp(ctx, tx, distinct, byText)
	if err == nil && len(missing) > 0 {
		if err = k.make(ctx, tx, missing); err == nil {
			_, err = k.lookUp(ctx, tx, missing, byText)
		}
	}
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(all))
	for i, n := range all {
		ids[i] = byText[n.text]
	}
	return ids, nil
}

// lookUp puts the ids of series into byText, and returns the series that have
// none.
func (k *Sink) lookUp(ctx context.Context, tx pgx.Tx, series []named, byText map[string]int64) (missing []named, err error) {
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
				if id == 0 {
					missing = append(missing, part[i])
				} else {
					byText[part[i].text] = id
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
