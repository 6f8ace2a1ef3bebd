package fleettest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/pgsink"
)

// secret is a password that no error may show.
const secret = "s3cret-word"

// writeOnce writes one row, and returns what the sink says.
func writeOnce(t *testing.T, st *store, addr string, as client) error {
	t.Helper()
	e, err := st.open(addr, as)
	require.NoError(t, err)
	t.Cleanup(e.close)
	d, err := series.NewDesc("hits_total")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	return e.Write(ctx, &snapshot.Snapshot{
		Writer: snapshot.NewWriterID(), Seq: 1, Taken: time.Now(),
		Counters: []snapshot.CounterRow{{Key: d.Key(), Created: 1, Value: 1}},
	})
}

// A want is what a sink has to say; the zero want is nothing.
type want struct {
	err  error // that it wraps
	text string
}

func (w want) check(t *testing.T, err error) {
	t.Helper()
	if w == (want{}) {
		require.NoError(t, err)
		return
	}
	require.Error(t, err)
	if w.err != nil {
		assert.ErrorIs(t, err, w.err)
	}
	assert.ErrorContains(t, err, w.text)
	assert.NotContains(t, err.Error(), secret)
	t.Log(err)
}

// Certificates that do not verify are replaced some day, so sinks try again. What
// a client must say in another way, it says wrong for ever.
func TestTLS(t *testing.T) {
	ca := servertest.NewCA(t)
	untrusted, misnamed := want{text: "unknown authority"}, want{text: "other.test"}
	for _, test := range []struct {
		store      string
		start      func(*testing.T, *servertest.CA) (plain, secure string) // addresses
		tlsToPlain want
		plainToTLS want
	}{
		{"redis", redisTLS,
			want{err: context.DeadlineExceeded}, // the server waits for the end of a line
			want{err: io.EOF}},
		{"postgres", postgresTLS,
			want{err: export.ErrUnavailable, text: "server refused TLS connection"},
			want{err: export.ErrDenied, text: "no encryption"}},
		{"nats", natsTLS,
			want{err: nats.ErrSecureConnWanted},
			untrusted}, // since the client turns to TLS
	} {
		t.Run(test.store, func(t *testing.T) {
			st := storeNamed(test.store)
			plain, secure := test.start(t, ca)
			for _, c := range []struct {
				name string
				addr string
				tls  *tls.Config
				want want
			}{
				{"trusted", secure, ca.Trust("127.0.0.1"), want{}},
				{"not trusted", secure, servertest.NewCA(t).Trust("127.0.0.1"), untrusted},
				{"another name", secure, ca.Trust("other.test"), misnamed},
				{"plain to TLS", secure, nil, test.plainToTLS},
				{"TLS to plain", plain, ca.Trust("127.0.0.1"), test.tlsToPlain},
			} {
				t.Run(c.name, func(t *testing.T) {
					err := writeOnce(t, st, c.addr, client{tls: c.tls})
					// A NATS client forgets for a moment why it failed when it tries again.
					for test.store == "nats" && err != nil && !strings.Contains(err.Error(), "not connected") && t.Context().Err() == nil {
						err = writeOnce(t, st, c.addr, client{tls: c.tls})
					}
					c.want.check(t, err)
					var unverified *tls.CertificateVerificationError
					assert.Equal(t, c.want == untrusted || c.want == misnamed, errors.As(err, &unverified))
				})
			}
		})
	}
}

func redisTLS(t *testing.T, ca *servertest.CA) (plain, secure string) {
	s := servertest.Redis(t)
	s.Stop()
	cert, key := ca.Issue("127.0.0.1")
	port := servertest.FreePort(t)
	s.Configure("--tls-port", fmt.Sprint(port), "--tls-auth-clients", "no",
		"--tls-cert-file", s.File("cert.pem", cert), "--tls-key-file", s.File("key.pem", key))
	s.Start()
	return s.Addr(), fmt.Sprintf("127.0.0.1:%d", port)
}

func postgresTLS(t *testing.T, ca *servertest.CA) (plain, secure string) {
	unencrypted := servertest.Postgres(t)
	s := servertest.Postgres(t)
	e, err := openPostgres(s.Addr(), client{})
	require.NoError(t, err)
	require.NoError(t, pgsink.Migrate(t.Context(), e.pool, ""))
	e.close()
	s.Stop()
	cert, key := ca.Issue("127.0.0.1")
	s.Set("ssl=on", "ssl_cert_file="+s.File("cert.pem", cert), "ssl_key_file="+s.File("key.pem", key),
		"hba_file="+s.File("hba.conf", []byte("hostssl all all 127.0.0.1/32 trust\n")))
	s.Start()
	return unencrypted.Addr(), s.Addr()
}

func natsTLS(t *testing.T, ca *servertest.CA) (plain, secure string) {
	unencrypted := servertest.NATS(t, "")
	s := servertest.NATS(t, "")
	s.Stop()
	cert, key := ca.Issue("127.0.0.1")
	s.Configure("--tls", "--tlscert", s.File("cert.pem", cert), "--tlskey", s.File("key.pem", key))
	s.Start()
	e, err := openNATS(s.Addr(), client{tls: ca.Trust("127.0.0.1")})
	require.NoError(t, err)
	defer e.close()
	require.NoError(t, storeNamed("nats").create(t.Context(), e))
	return unencrypted.Addr(), s.Addr()
}

// Who is not known, or may not write, is told so.
func TestLogins(t *testing.T) {
	for _, test := range []struct {
		store      string
		start      func(*testing.T) *servertest.Server // knows the users counter and reader, who have the same password
		wrong      want                                // password
		nobody     want
		notAllowed want
	}{
		{
			"redis", redisUsers,
			want{err: export.ErrDenied, text: "WRONGPASS"},
			want{err: export.ErrDenied, text: "WRONGPASS"},
			want{err: export.ErrDenied, text: "NOPERM"},
		},
		{
			"postgres", postgresUsers,
			want{err: export.ErrDenied, text: "password"},
			want{err: export.ErrDenied, text: "password"},
			want{err: export.ErrDenied, text: "permission denied"},
		},
		{
			"nats", natsUsers,
			want{err: export.ErrDenied, text: "Authorization Violation"},
			want{err: export.ErrDenied, text: "Authorization Violation"},
			want{err: export.ErrDenied, text: "Permissions Violation"},
		},
	} {
		t.Run(test.store, func(t *testing.T) {
			st, addr := storeNamed(test.store), test.start(t).Addr()
			for _, c := range []struct {
				name, user, password string
				want                 want
			}{
				{"right", "counter", secret, want{}},
				{"wrong password", "counter", secret + "x", test.wrong},
				{"nobody", "nobody", secret, test.nobody},
				{"missing rights", "reader", secret, test.notAllowed},
			} {
				t.Run(c.name, func(t *testing.T) {
					c.want.check(t, writeOnce(t, st, addr, client{user: c.user, password: c.password}))
				})
			}
		})
	}
}

func redisUsers(t *testing.T) *servertest.Server {
	s := servertest.Redis(t)
	e, err := openRedis(s.Addr(), client{})
	require.NoError(t, err)
	defer e.close()
	require.NoError(t, e.redis.Do(t.Context(), "ACL", "SETUSER", "counter", "on", ">"+secret, "~*", "+@all").Err())
	require.NoError(t, e.redis.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">"+secret, "~*", "+@read", "+@connection").Err())
	return s
}

func postgresUsers(t *testing.T) *servertest.Server {
	s := servertest.Postgres(t)
	e, err := openPostgres(s.Addr(), client{})
	require.NoError(t, err)
	defer e.close()
	require.NoError(t, pgsink.Migrate(t.Context(), e.pool, ""))
	for _, user := range []string{"counter", "reader"} {
		_, err := e.pool.Exec(t.Context(), `CREATE ROLE `+user+` LOGIN PASSWORD '`+secret+`'`)
		require.NoError(t, err)
	}
	_, err = e.pool.Exec(t.Context(), pgsink.Grants("", "counter", "reader"))
	require.NoError(t, err)
	return s
}

func natsUsers(t *testing.T) *servertest.Server {
	s := servertest.NATS(t, `
authorization {
  users = [
    {user: counter, password: `+secret+`}
    {user: reader, password: `+secret+`, permissions: {
      publish: ["$JS.API.STREAM.INFO.COUNTS", "$JS.API.CONSUMER.>"]
      subscribe: ["_INBOX.>"]
    }}
  ]
}`)
	e, err := openNATS(s.Addr(), client{user: "counter", password: secret})
	require.NoError(t, err)
	defer e.close()
	require.NoError(t, storeNamed("nats").create(t.Context(), e))
	return s
}
