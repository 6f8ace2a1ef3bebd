package fleettest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	flushRows = 100_000

	// slowRows is for what is written row by row, which has no more to tell
	// after some seconds.
	slowRows = 5000

	// pipelined is how many commands a hand-made pipeline has.
	pipelined = 1000
)

// BenchmarkFlush writes 100,000 series, all of which have changed, and beside that
// does so as one does it by hand. All have written the rows before. The servers
// have the settings of their packages, so PostgreSQL waits for the disk.
func BenchmarkFlush(b *testing.B) {
	for _, bench := range []struct {
		name  string
		start func(testing.TB) *servertest.Server
		sides func(*testing.B, *end, *meter) []side
	}{
		{"redis", func(t testing.TB) *servertest.Server { return servertest.Redis(t) }, redisSides},
		{"postgres", startSyncingPostgres, postgresSides},
		{"nats", func(t testing.TB) *servertest.Server { return servertest.NATS(t, "") }, natsSides},
	} {
		b.Run("store="+bench.name, func(b *testing.B) {
			st := storeNamed(bench.name)
			m := new(meter)
			e, err := st.open(bench.start(b).Addr(), client{meter: m})
			require.NoError(b, err)
			defer e.close()
			require.NoError(b, st.create(b.Context(), e))
			sides := append([]side{sinkSide(b, e, m)}, bench.sides(b, e, m)...)
			for b.Loop() {
				compare(b, sides)
			}
		})
	}
}

func startSyncingPostgres(t testing.TB) *servertest.Server {
	s := servertest.Postgres(t)
	s.Stop()
	s.Set("fsync=on", "max_wal_size=4GB")
	s.Start()
	return s
}

func storeNamed(name string) *store {
	for _, s := range stores {
		if s.name == name {
			return s
		}
	}
	panic("no store " + name)
}

// dirty returns a snapshot of n series, and what makes all of them change.
func dirty(b *testing.B, n int) (s *snapshot.Snapshot, touch func()) {
	b.Helper()
	d, err := series.NewDesc("http_requests_total", "path")
	require.NoError(b, err)
	s = &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Taken: time.Now()}
	for i := range n {
		s.Counters = append(s.Counters, snapshot.CounterRow{Key: d.Key(fmt.Sprintf("/items/%06d", i)), Created: 1})
	}
	return s, func() {
		s.Seq++
		for i := range s.Counters {
			s.Counters[i].Value += int64(i + 1)
		}
	}
}

func sinkSide(b *testing.B, e *end, m *meter) side {
	s, touch := dirty(b, flushRows)
	return side{name: "hotcount", rows: flushRows, turns: m.turns.Load, run: func() error {
		touch()
		return e.Write(b.Context(), s)
	}}
}

// byHand returns a side that writes the rows of n series, some at a time.
func byHand(b *testing.B, m *meter, name string, n, atOnce int, write func(context.Context, *snapshot.Snapshot, []snapshot.CounterRow) error) side {
	s, touch := dirty(b, n)
	return side{name: name, rows: n, turns: m.turns.Load, run: func() error {
		touch()
		for from := 0; from < n; from += atOnce {
			if err := write(b.Context(), s, s.Counters[from:min(from+atOnce, n)]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// redisSides are pipelines of HINCRBY, which count twice what is sent twice, and
// HSET one by one.
func redisSides(b *testing.B, e *end, m *meter) []side {
	send := func(ctx context.Context, rows []snapshot.CounterRow, add func(redis.Pipeliner, string, snapshot.CounterRow)) error {
		pipe := e.redis.Pipeline()
		for _, c := range rows {
			add(pipe, "by hand "+c.Key.String(), c)
		}
		_, err := pipe.Exec(ctx)
		return err
	}
	return []side{
		byHand(b, m, "hincrby", flushRows, pipelined, func(ctx context.Context, s *snapshot.Snapshot, rows []snapshot.CounterRow) error {
			return send(ctx, rows, func(pipe redis.Pipeliner, key string, c snapshot.CounterRow) {
				pipe.HIncrBy(ctx, key, s.Writer.String(), c.Value/int64(s.Seq)) // which is what was added
			})
		}),
		byHand(b, m, "row-by-row", slowRows, 1, func(ctx context.Context, s *snapshot.Snapshot, rows []snapshot.CounterRow) error {
			return send(ctx, rows, func(pipe redis.Pipeliner, key string, c snapshot.CounterRow) {
				pipe.HSet(ctx, key, s.Writer.String(), c.Value)
			})
		}),
	}
}

// upsert is what one writes by hand, to a table as narrow as it can be.
const upsert = `
	INSERT INTO by_hand AS have (key, writer, value, seq) VALUES ($1, $2, $3, $4)
	ON CONFLICT (key, writer) DO UPDATE SET value = excluded.value, seq = excluded.seq WHERE excluded.seq > have.seq`

// postgresSides are upserts of rows in one transaction: pipelined, and one by one.
func postgresSides(b *testing.B, e *end, m *meter) []side {
	_, err := e.pool.Exec(b.Context(), `CREATE TABLE by_hand (key bytea, writer uuid, value bigint, seq bigint, PRIMARY KEY (key, writer))`)
	require.NoError(b, err)
	args := func(s *snapshot.Snapshot, c snapshot.CounterRow) []any {
		return []any{[]byte(c.Key.String()), [16]byte(s.Writer), c.Value, int64(s.Seq)}
	}
	return []side{
		byHand(b, m, "pipelined", flushRows, flushRows, func(ctx context.Context, s *snapshot.Snapshot, rows []snapshot.CounterRow) error {
			return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
				var batch pgx.Batch
				for _, c := range rows {
					batch.Queue(upsert, args(s, c)...)
				}
				return tx.SendBatch(ctx, &batch).Close()
			})
		}),
		byHand(b, m, "row-by-row", slowRows, slowRows, func(ctx context.Context, s *snapshot.Snapshot, rows []snapshot.CounterRow) error {
			return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
				for _, c := range rows {
					if _, err := tx.Exec(ctx, upsert, args(s, c)...); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
}

// natsSides publish the rows with nothing to guard them: asynchronously, and one
// by one.
func natsSides(b *testing.B, e *end, m *meter) []side {
	subject := func(c snapshot.CounterRow) string { return fmt.Sprintf("%s.hand.%x", streamName, c.Key.String()) }
	data := func(s *snapshot.Snapshot, c snapshot.CounterRow) []byte {
		return fmt.Appendf(nil, "%s %s %d %d", c.Key, s.Writer, s.Seq, c.Value)
	}
	return []side{
		byHand(b, m, "publish-async", flushRows, flushRows, func(ctx context.Context, s *snapshot.Snapshot, rows []snapshot.CounterRow) error {
			acks := make([]jetstream.PubAckFuture, 0, len(rows))
			for _, c := range rows {
				ack, err := e.js.PublishAsync(subject(c), data(s, c), jetstream.WithStallWait(time.Minute))
				if err != nil {
					return err
				}
				acks = append(acks, ack)
			}
			for _, ack := range acks {
				select {
				case <-ack.Ok():
				case err := <-ack.Err():
					return err
				}
			}
			return nil
		}),
		byHand(b, m, "one-by-one", slowRows, 1, func(ctx context.Context, s *snapshot.Snapshot, rows []snapshot.CounterRow) error {
			_, err := e.js.Publish(ctx, subject(rows[0]), data(s, rows[0]))
			return err
		}),
	}
}
