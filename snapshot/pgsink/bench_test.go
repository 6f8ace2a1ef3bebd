package pgsink

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// BenchmarkFlush writes 100,000 counters, all of which have changed,
// as the sink does, and as one does by hand, row by row
// in one transaction. Both have written the rows before.
func BenchmarkFlush(b *testing.B) {
	const series = 100_000
	b.Run("impl=pgsink", func(b *testing.B) { benchSink(b, series) })
	b.Run("impl=pipelined", func(b *testing.B) { benchRows(b, series, pipelined) })
	b.Run("impl=row-by-row", func(b *testing.B) { benchRows(b, series, rowByRow) })
}

func benchSnapshot(b *testing.B, n int) *snapshot.Snapshot {
	d, err := series.NewDesc("http_requests_total", "path", "code")
	require.NoError(b, err)
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID()}
	for i := range n {
		s.Counters = append(s.Counters, snapshot.CounterRow{Key: d.Key(fmt.Sprintf("/posts/%06d", i), "200"), Created: 1})
	}
	return s
}

func count(s *snapshot.Snapshot) {
	s.Seq++
	for i := range s.Counters {
		s.Counters[i].Value++
	}
}

func benchSink(b *testing.B, series int) {
	p := newPlace(b)
	k, s := p.sink(Options{}), benchSnapshot(b, series)
	count(s)
	require.NoError(b, k.Write(b.Context(), s))
	for b.Loop() {
		count(s)
		require.NoError(b, k.Write(b.Context(), s))
	}
	b.ReportMetric(float64(series)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	p.check(b, s)
}

// check looks whether what was timed has been written.
func (p *place) check(b *testing.B, s *snapshot.Snapshot) {
	b.StopTimer()
	require.EqualValues(b, int64(len(s.Counters))*int64(s.Seq), query[int64](p, `SELECT sum(value)::bigint FROM {schema}.counters`))
}

// putRow is what one writes by hand, to tables like ours.
const putRow = `
	INSERT INTO {schema}.counters AS have (series, writer, created, value, seq)
	SELECT id, $2, $3, $4, $5 FROM {schema}.series WHERE substring(key, 1, 1024) = $1 AND key = $1
	ON CONFLICT (series, writer) DO UPDATE SET value = excluded.value, seq = excluded.seq, updated = excluded.updated
	WHERE excluded.seq > have.seq`

func benchRows(b *testing.B, series int, put func(*testing.B, pgx.Tx, string, *snapshot.Snapshot) error) {
	p := newPlace(b)
	s := benchSnapshot(b, series)
	count(s)
	require.NoError(b, p.sink(Options{}).Write(b.Context(), s))
	sql := newQueries(p.schema).text(putRow)
	for b.Loop() {
		count(s)
		require.NoError(b, pgx.BeginTxFunc(b.Context(), p.pool, readCommitted, func(tx pgx.Tx) error { return put(b, tx, sql, s) }))
	}
	b.ReportMetric(float64(series)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	p.check(b, s)
}

func rowByRow(b *testing.B, tx pgx.Tx, sql string, s *snapshot.Snapshot) error {
	for _, c := range s.Counters {
		if _, err := tx.Exec(b.Context(), sql, []byte(c.Key.String()), [16]byte(s.Writer), c.Created, c.Value, s.Seq); err != nil {
			return err
		}
	}
	return nil
}

func pipelined(b *testing.B, tx pgx.Tx, sql string, s *snapshot.Snapshot) error {
	var batch pgx.Batch
	for _, c := range s.Counters {
		batch.Queue(sql, []byte(c.Key.String()), [16]byte(s.Writer), c.Created, c.Value, s.Seq)
	}
	return tx.SendBatch(b.Context(), &batch).Close()
}
