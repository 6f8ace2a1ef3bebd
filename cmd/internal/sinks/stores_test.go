//go:build hotcount_stores

package sinks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/snapshot"
)

// goesRound writes two writers' counts to a store by its address and reads the
// totals back.
func goesRound(t *testing.T, address string) {
	target, err := Parse(address)
	require.NoError(t, err)
	sink, err := target.Sink(t.Context())
	require.NoError(t, err)
	for range 2 {
		e, err := hotcount.New(hotcount.Options{})
		require.NoError(t, err)
		e.Counter("views_total", "post", "1").Add(7)
		e.Uniques("readers").AddString("me")
		var s snapshot.Snapshot
		e.Snapshot(&s)
		require.NoError(t, sink.Write(t.Context(), &s))
		require.NoError(t, e.Close(t.Context()))
	}
	require.NoError(t, sink.Close())

	reader, err := target.Reader(t.Context())
	require.NoError(t, err)
	totals, err := reader.Totals(t.Context(), export.Query{Prefix: "views"})
	require.NoError(t, err)
	require.Len(t, totals, 1)
	assert.Equal(t, `views_total{post="1"}`, totals[0].Key.String())
	assert.EqualValues(t, 14, totals[0].Value)
	uniques, err := reader.Uniques(t.Context(), export.Query{Prefix: "readers"})
	require.NoError(t, err)
	require.Len(t, uniques, 1)
	assert.EqualValues(t, 1, uniques[0].Sketch.Estimate().Count)
	require.NoError(t, reader.Close())
}

func TestRedis(t *testing.T) {
	server := servertest.RedisAddr(t)
	prefix := fmt.Sprintf("sinks-test-%x:", rand.Uint64())
	t.Cleanup(func() {
		c := redis.NewClient(&redis.Options{Addr: server})
		defer c.Close()
		keys, err := c.Keys(context.Background(), prefix+"*").Result()
		if err == nil && len(keys) > 0 {
			c.Del(context.Background(), keys...)
		}
	})
	goesRound(t, "redis://"+server+"/0?prefix="+prefix)
}

func TestPostgres(t *testing.T) {
	database := servertest.PostgresURL(t)
	schema := fmt.Sprintf("sinks_test_%x", rand.Uint64())
	pool, err := pgxpool.New(t.Context(), database)
	require.NoError(t, err)
	defer pool.Close()
	defer func() {
		_, err := pool.Exec(t.Context(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		assert.NoError(t, err)
	}()
	u, err := url.Parse(database)
	require.NoError(t, err)
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	address := u.String()
	target, err := Parse(address)
	require.NoError(t, err)
	bare, err := target.Sink(t.Context())
	require.NoError(t, err)
	now := time.Now()
	err = bare.Write(t.Context(), &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1, Started: now, Taken: now})
	require.ErrorIs(t, err, export.ErrSchema, "nobody asked for the tables")
	require.NoError(t, bare.Close())
	target, err = Parse(address + "&migrate=perhaps")
	require.NoError(t, err)
	_, err = target.Sink(t.Context())
	require.ErrorIs(t, err, ErrAddress)
	goesRound(t, address+"&migrate=true")
}

// A password is in no text, whatever the driver makes of the address.
func TestSecretsStaySecret(t *testing.T) {
	const secret = "hunter2"
	for _, address := range []string{
		"redis://:" + secret + "@127.0.0.1:1/0",
		"redis://:" + secret + "@127.0.0.1:port/0",
		"redis://:" + secret + "@127.0.0.1:1/none",
		"postgres://me:" + secret + "@127.0.0.1:1/db",
		"postgres://me:" + secret + "@127.0.0.1:port/db",
		"nats://me:" + secret + "@127.0.0.1:1",
		"nats://me:" + secret + "@127.0.0.1:port",
	} {
		target, err := Parse(address)
		require.NoError(t, err)
		assert.NotContains(t, target.String(), secret)
		reader, err := target.Reader(t.Context())
		if err == nil {
			_, err = reader.Totals(t.Context(), export.Query{})
			err = target.Clean(err)
			require.NoError(t, reader.Close())
		}
		require.Error(t, err, "%v", target)
		assert.NotContains(t, err.Error(), secret)
	}
}
