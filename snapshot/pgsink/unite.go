package pgsink

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

// A union is of the sketches of one series that hash alike.
type union struct {
	series int64
	key    []byte
	scheme hll.Scheme
	sketch *hll.Sketch
}

// collectUnions reads rows of series, key, hash, seed and sketch, sorted by the
// first four, and unites what it can. After an error, the unions before the one
// that it broke off in are whole.
func collectUnions(rows pgx.Rows) (unions []union, err error) {
	defer rows.Close()
	for rows.Next() {
		var u union
		var hash int16
		var seed int64
		var encoded []byte
		if err := rows.Scan(&u.series, &u.key, &hash, &seed, &encoded); err != nil {
			return unions, err
		}
		u.scheme = hll.Scheme{Hash: hll.Hash(hash), SeedPrint: uint64(seed)}
		if u.sketch, err = decode(u.scheme, encoded); err != nil {
			return unions, fmt.Errorf("%w: series %s: %w", export.ErrForeign, u.key, err)
		}
		if n := len(unions); n > 0 && unions[n-1].series == u.series && unions[n-1].scheme == u.scheme {
			last := &unions[n-1]
			if last.sketch, err = unite(last.sketch, u.sketch); err != nil {
				return unions, err
			}
			continue
		}
		unions = append(unions, u)
	}
	return unions, rows.Err()
}

// decode returns a sketch to merge and to estimate by. It has no seed, as the
// tables do not have it.
func decode(scheme hll.Scheme, encoded []byte) (*hll.Sketch, error) {
	s, err := hll.New(hll.Options{Hash: scheme.Hash})
	if err != nil {
		return nil, err
	}
	return s, s.UnmarshalBinary(encoded)
}

// unite merges a and b, the finer into the coarser.
func unite(a, b *hll.Sketch) (*hll.Sketch, error) {
	if b.Options().Precision < a.Options().Precision {
		a, b = b, a
	}
	return a, a.Merge(b)
}

// goneUniques deletes, and returns, sketches of dead writers and the unions that
// they go into: those of the next few series.
const goneUniques = `
	WITH next AS (SELECT DISTINCT series FROM {schema}.uniques WHERE writer = ANY ($1) ORDER BY series LIMIT $3),
	     gone AS (DELETE FROM {schema}.uniques u USING next
	              WHERE u.series = next.series AND (u.writer = ANY ($1) OR u.writer = $2)
	              RETURNING u.series, u.hash, u.seed, u.sketch)
	SELECT series, ''::bytea, hash, seed, sketch FROM gone ORDER BY series, hash, seed`

// addUpUniques replaces sketches of dead writers by unions. A part of them at a
// time is in memory.
func (k *Sink) addUpUniques(ctx context.Context, tx pgx.Tx, dead [][16]byte, column string) error {
	gone, insert := k.q.text(goneUniques), uniquesSQL(k.q, column)
	for {
		rows, err := tx.Query(ctx, gone, dead, base, sketchChunk)
		if err != nil {
			return err
		}
		unions, err := collectUnions(rows)
		if err != nil || len(unions) == 0 {
			return err
		}
		var put uniqueRows
		for _, u := range unions {
			encoded, err := u.sketch.AppendBinary(nil)
			if err != nil {
				return err
			}
			if err := put.add(u.series, u.scheme, 0, encoded, column != ""); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, insert, put.args(snapshot.WriterID{}, 0)...); err != nil {
			return err
		}
	}
}
