package servertest

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answers reports whether somebody listens at the server's address.
func answers(s *Server) bool {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func TestKillServers(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(testing.TB) *Server
	}{
		{"redis", func(t testing.TB) *Server { return Redis(t) }},
		{"postgres", func(t testing.TB) *Server { return Postgres(t) }},
		{"nats", func(t testing.TB) *Server { return NATS(t, "") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.start(t)
			require.True(t, answers(s))
			s.Kill()
			require.False(t, answers(s))
			s.Stop() // of what is down does nothing
			mark := filepath.Join(s.data(), "mark")
			require.NoError(t, os.WriteFile(mark, nil, 0o600))
			s.Keep("old")
			require.NoError(t, os.Remove(mark))
			s.Bring("old")
			require.FileExists(t, mark)
			s.Start()
			require.True(t, answers(s))
			s.Stop()
			require.False(t, answers(s))
		})
	}
}

func TestCertificates(t *testing.T) {
	ca := NewCA(t)
	pair, err := tls.X509KeyPair(ca.Issue("a.test", "127.0.0.1"))
	require.NoError(t, err)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	for _, test := range []struct {
		ca   *CA
		name string
		ok   bool
	}{{ca, "a.test", true}, {ca, "127.0.0.1", true}, {ca, "b.test", false}, {NewCA(t), "a.test", false}} {
		conn, err := tls.Dial("tcp", l.Addr().String(), test.ca.Trust(test.name))
		assert.Equal(t, test.ok, err == nil, "%s: %v", test.name, err)
		if err == nil {
			conn.Close()
		}
	}
}
