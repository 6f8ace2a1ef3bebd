package fleettest

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/snapshot/natssink"
	"github.com/hotcount/hotcount/snapshot/pgsink"
	"github.com/hotcount/hotcount/snapshot/redissink"
)

// A store is one of the products that keep a fleet's counts.
type store struct {
	name   string
	faults chaos.Faults // that its protocol stands
	start  func(testing.TB) *servertest.Server
	create func(context.Context, *end) error // what an administrator makes
	open   func(addr string, as client) (*end, error)
	rollUp func(context.Context, *end) error // as if all leases had run out
}

// A client says how to connect. The zero client is nobody in particular.
type client struct {
	user, password string
	tls            *tls.Config
	meter          *meter
}

// An end is a sink and a reader with their connections. One of the clients is not
// nil.
type end struct {
	export.Sink
	export.Reader
	redis *redis.Client
	pool  *pgxpool.Pool
	js    jetstream.JetStream
	close func()
}

const streamName = "COUNTS"

var stores = []*store{
	{
		name:   "redis",
		faults: chaos.Faults{Cut: 60, Mute: 60, Late: 60, Slow: 10, Twice: 20, Delay: 200 * time.Millisecond},
		// Not everysec: what it has confirmed, it must not lose with a kill
		// while the disk is slow.
		start: func(t testing.TB) *servertest.Server {
			return servertest.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
		},
		create: func(context.Context, *end) error { return nil },
		open:   openRedis,
		rollUp: rollUpRedis,
	},
	{
		name:   "postgres",
		faults: chaos.Faults{Cut: 250, Mute: 150, Late: 250, Slow: 20, Delay: 100 * time.Millisecond},
		start:  func(t testing.TB) *servertest.Server { return servertest.Postgres(t) },
		create: func(ctx context.Context, e *end) error { return pgsink.Migrate(ctx, e.pool, "") },
		open:   openPostgres,
		rollUp: rollUpPostgres,
	},
	{
		name: "nats",
		faults: chaos.Faults{Cut: 200, Mute: 200, Late: 200, Slow: 20, Twice: 20, Delay: 100 * time.Millisecond,
			Hello: `CONNECT {"verbose":false,"pedantic":false,"headers":true}` + "\r\n"},
		start: func(t testing.TB) *servertest.Server { return servertest.NATS(t, "") },
		create: func(ctx context.Context, e *end) error {
			_, err := e.js.CreateStream(ctx, natssink.StreamConfig(streamName))
			return err
		},
		open: openNATS,
		rollUp: func(ctx context.Context, e *end) error {
			_, err := e.Sink.(*natssink.Sink).Compact(ctx, time.Nanosecond)
			return err
		},
	},
}

func openRedis(addr string, as client) (*end, error) {
	logging.Disable() // the client's own log of the failures that tests make
	o := &redis.Options{Addr: addr, Username: as.user, Password: as.password, TLSConfig: as.tls, DialerRetries: 1}
	if as.meter != nil {
		o.Dialer = as.meter.dial
	} else {
		o.ReadTimeout = 300 * time.Millisecond
	}
	c := redis.NewClient(o)
	k, err := redissink.New(redissink.Options{Client: c})
	return &end{Sink: k, Reader: k, redis: c, close: func() { c.Close() }}, err
}

func rollUpRedis(ctx context.Context, e *end) error {
	const leases = "hotcount:leases"
	writers, err := e.redis.ZRange(ctx, leases, 0, -1).Result()
	if err != nil {
		return err
	}
	for _, w := range writers {
		if err := e.redis.ZAdd(ctx, leases, redis.Z{Score: 1, Member: w}).Err(); err != nil {
			return err
		}
	}
	_, err = e.Sink.(*redissink.Sink).Sweep(ctx)
	return err
}

func openPostgres(addr string, as client) (*end, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c, err := pgxpool.ParseConfig("dbname=postgres sslmode=disable connect_timeout=2 host=" + host + " port=" + port)
	if err != nil {
		return nil, err
	}
	c.MaxConns = 4
	c.ConnConfig.User, c.ConnConfig.Password, c.ConnConfig.TLSConfig = cmp.Or(as.user, "postgres"), as.password, as.tls
	if as.meter != nil {
		c.ConnConfig.DialFunc = as.meter.dial
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	if err != nil {
		return nil, err
	}
	k, err := pgsink.New(pgsink.Options{Pool: pool})
	if err != nil {
		return nil, err
	}
	r, err := pgsink.NewReader(pool, "")
	return &end{Sink: k, Reader: r, pool: pool, close: pool.Close}, err
}

func rollUpPostgres(ctx context.Context, e *end) error {
	if _, err := e.pool.Exec(ctx, `UPDATE hotcount.writers SET expires = '-infinity'`); err != nil {
		return err
	}
	_, err := e.Sink.(*pgsink.Sink).RollUp(ctx)
	return err
}

func openNATS(addr string, as client) (*end, error) {
	options := []nats.Option{
		nats.ReconnectWait(10 * time.Millisecond),
		nats.ReconnectJitter(0, 0),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // which prints them otherwise
	}
	if as.meter != nil {
		options = append(options, nats.SetCustomDialer(as.meter))
	}
	if as.user != "" {
		options = append(options, nats.UserInfo(as.user, as.password))
	}
	if as.tls != nil {
		options = append(options, nats.Secure(as.tls))
	}
	nc, err := nats.Connect("nats://"+addr, options...)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	k, err := natssink.New(natssink.Options{JetStream: js, Stream: streamName, AckWait: 500 * time.Millisecond})
	return &end{Sink: k, Reader: k, js: js, close: nc.Close}, err
}
