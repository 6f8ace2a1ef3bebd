package pgsink

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// A put gathers the statements of one flush.
type put struct {
	q      queries
	hll    string
	writer snapshot.WriterID
	seq    uint64
	batch  pgx.Batch
}

const putCounters = `
	INSERT INTO {schema}.counters AS have (series, writer, created, value, seq)
	SELECT series, $1, created, value, $2
	FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS row (series, created, value)
	ON CONFLICT (series, writer) DO UPDATE SET
		carry = have.carry + CASE WHEN excluded.created > have.created THEN have.value ELSE 0 END,
		created = excluded.created, value = excluded.value, seq = excluded.seq, updated = excluded.updated
	WHERE excluded.created > have.created OR excluded.created = have.created AND excluded.seq > have.seq`

// counters puts rows, which are sorted by key and Created. A statement cannot
// change a row twice, so of each series it takes the first row, and leaves the
// later ones to the statements that follow.
func (p *put) counters(rows []snapshot.CounterRow, ids []int64) {
	sql := p.q.text(putCounters)
	for len(rows) > 0 {
		var later []snapshot.CounterRow
		var laterIDs, series, created, values []int64
		flush := func() {
			if len(series) > 0 {
				p.batch.Queue(sql, [16]byte(p.writer), p.seq, series, created, values)
			}
			series, created, values = nil, nil, nil
		}
		for i, r := range rows {
			if i > 0 && ids[i] == ids[i-1] {
				later, laterIDs = append(later, r), append(laterIDs, ids[i])
				continue
			}
			series, created, values = append(series, ids[i]), append(created, r.Created), append(values, r.Value)
			if len(series) == chunk {
				flush()
			}
		}
		flush()
		rows, ids = later, laterIDs
	}
}

const putUniques = `
	INSERT INTO {schema}.uniques AS have (series, hash, seed, writer, created, seq, sketch%[1]s)
	SELECT series, hash, seed, $1, created, $2, sketch%[2]s
	FROM unnest($3::bigint[], $4::smallint[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bytea[])
		AS row (series, hash, seed, created, sketch, registers)
	ON CONFLICT (series, hash, seed, writer, created) DO UPDATE SET
		seq = excluded.seq, updated = excluded.updated, sketch = excluded.sketch%[3]s
	WHERE excluded.seq > have.seq`

// sketchChunk is how many sketches go into one statement: some MiB.
const sketchChunk = 256

// uniquesSQL returns putUniques with or without the column for the extension.
func uniquesSQL(q queries, hllType string) string {
	if hllType == "" {
		return q.text(fmt.Sprintf(putUniques, "", "", ""))
	}
	return q.text(fmt.Sprintf(putUniques, ", registers", ", registers::"+hllType, ", registers = excluded.registers"))
}

// uniqueRows are rows of the table uniques by column.
type uniqueRows struct {
	series    []int64
	hash      []int16
	seed      []int64
	created   []int64
	sketch    [][]byte
	registers [][]byte
}

func (u *uniqueRows) add(series int64, scheme hll.Scheme, created int64, sketch []byte, withRegisters bool) error {
	var registers []byte
	if withRegisters {
		var s hll.Sketch
		if err := s.UnmarshalBinary(sketch); err != nil {
			return fmt.Errorf("%w: sketch: %w", export.ErrForeign, err)
		}
		registers = s.AppendPostgres(nil)
	}
	u.series = append(u.series, series)
	u.hash = append(u.hash, int16(scheme.Hash))
	u.seed = append(u.seed, int64(scheme.SeedPrint))
	u.created = append(u.created, created)
	u.sketch = append(u.sketch, sketch)
	u.registers = append(u.registers, registers)
	return nil
}

func (u *uniqueRows) args(w snapshot.WriterID, seq uint64) []any {
	return []any{[16]byte(w), seq, u.series, u.hash, u.seed, u.created, u.sketch, u.registers}
}

func (p *put) uniques(sketches []snapshot.UniquesRow, ids []int64) error {
	sql := uniquesSQL(p.q, p.hll)
	for part := range slices.Chunk(sketches, sketchChunk) {
		var rows uniqueRows
		for i, u := range part {
			if err := rows.add(ids[i], u.Scheme, u.Created, u.Sketch, p.hll != ""); err != nil {
				return fmt.Errorf("series %v: %w", u.Key, err)
			}
		}
		ids = ids[len(part):]
		p.batch.Queue(sql, rows.args(p.writer, p.seq)...)
	}
	return nil
}

const putBuckets = `
	INSERT INTO {schema}.buckets AS have (series, resolution, start, writer, count, seq)
	SELECT series, resolution, start, $1, count, $2
	FROM unnest($3::bigint[], $4::interval[], $5::timestamptz[], $6::bigint[]) AS row (series, resolution, start, count)
	ON CONFLICT (series, resolution, start, writer) DO UPDATE SET count = excluded.count, seq = excluded.seq
	WHERE excluded.seq > have.seq`

func (p *put) buckets(buckets []sinkkit.BucketRow, ids []int64) {
	sql := p.q.text(putBuckets)
	for part := range slices.Chunk(buckets, chunk) {
		resolutions, starts, counts := make([]time.Duration, len(part)), make([]time.Time, len(part)), make([]int64, len(part))
		for i, b := range part {
			resolutions[i], starts[i], counts[i] = b.Resolution, time.Unix(0, b.Start), b.Count
		}
		p.batch.Queue(sql, [16]byte(p.writer), p.seq, ids[:len(part)], resolutions, starts, counts)
		ids = ids[len(part):]
	}
}

// standing makes the writer's standing that of this flush, if it still is st.
func (p *put) standing(st sinkkit.Standing, mark sinkkit.Mark, lease time.Duration) {
	p.batch.Queue(p.q.text(`
		UPDATE {schema}.writers SET seq = $2, mark = $3, expires = clock_timestamp() + $4::interval
		WHERE writer = $1 AND seq = $5 AND mark = $6 AND dead IS NULL`),
		[16]byte(p.writer), p.seq, [16]byte(mark), lease, st.Seq, [16]byte(st.Mark),
	).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return fmt.Errorf("%w: the standing of writer %v has changed", export.ErrInterrupted, p.writer)
		}
		return nil
	})
}
