//go:build hotcount_stores

package sinks

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/hotcount/hotcount/snapshot/pgsink"
	"github.com/hotcount/hotcount/snapshot/redissink"
)

// quiet keeps the client library from writing to standard error on its own: what
// goes wrong is in the errors.
var quiet = sync.OnceFunc(logging.Disable)

// A redisStore is a redissink with the client that belongs to it.
type redisStore struct {
	*redissink.Sink
	client *redis.Client
}

func (s *redisStore) Close() error { return s.client.Close() }

// openRedis takes what redis.ParseURL takes, and a prefix for the keys as
// ?prefix=.
func openRedis(_ context.Context, address string) (Sink, error) {
	s, err := newRedis(address)
	if err != nil {
		return nil, err // and not a nil *redisStore in a Sink
	}
	return s, nil
}

func readRedis(_ context.Context, address string) (Reader, error) {
	s, err := newRedis(address)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newRedis(address string) (*redisStore, error) {
	address, prefix, err := cutParameter(address, "prefix")
	if err != nil {
		return nil, err
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	quiet()
	client := redis.NewClient(o)
	s, err := redissink.New(redissink.Options{Client: client, Prefix: prefix})
	if err != nil {
		client.Close()
		return nil, err
	}
	return &redisStore{s, client}, nil
}

// A pgSink is a pgsink with the pool that belongs to it.
type pgSink struct {
	*pgsink.Sink
	pool *pgxpool.Pool
}

func (s *pgSink) Close() error { s.pool.Close(); return nil }

// A pgReader is the same for a Reader.
type pgReader struct {
	*pgsink.Reader
	pool *pgxpool.Pool
}

func (s *pgReader) Close() error { s.pool.Close(); return nil }

// openPostgres takes what pgxpool.New takes, a schema as ?schema=, and ?migrate=true
// to make the tables first, which takes more rights than writing does.
func openPostgres(ctx context.Context, address string) (Sink, error) {
	pool, schema, migrate, err := newPool(ctx, address)
	if err != nil {
		return nil, err
	}
	if migrate {
		err = pgsink.Migrate(ctx, pool, schema)
	}
	var s *pgsink.Sink
	if err == nil {
		s, err = pgsink.New(pgsink.Options{Pool: pool, Schema: schema})
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &pgSink{s, pool}, nil
}

// readPostgres takes the same, and makes no tables.
func readPostgres(ctx context.Context, address string) (Reader, error) {
	pool, schema, _, err := newPool(ctx, address)
	if err != nil {
		return nil, err
	}
	r, err := pgsink.NewReader(pool, schema)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &pgReader{r, pool}, nil
}

func newPool(ctx context.Context, address string) (pool *pgxpool.Pool, schema string, migrate bool, err error) {
	address, schema, err = cutParameter(address, "schema")
	if err != nil {
		return nil, "", false, err
	}
	address, wanted, err := cutParameter(address, "migrate")
	if err != nil {
		return nil, "", false, err
	}
	if migrate, err = strconv.ParseBool(cmp.Or(wanted, "false")); err != nil {
		return nil, "", false, fmt.Errorf("%w: migrate=%s is neither true nor false", ErrAddress, wanted)
	}
	pool, err = pgxpool.New(ctx, address)
	return pool, schema, migrate, err
}

// cutParameter takes a parameter of ours off an address.
func cutParameter(address, name string) (rest, value string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", err
	}
	q := u.Query()
	value = q.Get(name)
	q.Del(name)
	u.RawQuery = q.Encode()
	return u.String(), value, nil
}
