package pgsink

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// private is a server of this test binary's own, for tests that need many
// connections, or change how one gets in.
var private server

type server struct {
	mu   sync.Mutex
	root string
	dir  string
	port int
	cmd  *exec.Cmd
	pipe io.Closer
}

// place returns a migrated schema of the server, which it starts if need be.
func (s *server) place(t testing.TB) *place {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		s.init(t)
		s.start(t)
	}
	p := placeAt(t, s.dsn())
	p.migrate()
	return p
}

func (s *server) dsn() string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=postgres dbname=postgres sslmode=disable", s.port)
}

// bin returns the path of one of PostgreSQL's programs.
func bin(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		absent(t, "program "+name, exec.ErrNotFound)
	}
	return slices.Max(found)
}

// command runs a program as one of PostgreSQL's, which refuse to run as root.
func command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		uid, gid := postgresUser(t)
		runAs(cmd, uid, gid)
	}
	return cmd
}

func postgresUser(t testing.TB) (uid, gid int) {
	t.Helper()
	u, err := user.Lookup("postgres")
	require.NoError(t, err)
	uid, err = strconv.Atoi(u.Uid)
	require.NoError(t, err)
	gid, err = strconv.Atoi(u.Gid)
	require.NoError(t, err)
	return uid, gid
}

// init makes the data directory, in which every role but postgres has to know
// its password.
func (s *server) init(t testing.TB) {
	t.Helper()
	initdb := bin(t, "initdb")
	root, err := os.MkdirTemp("", "hotcount-pg-")
	require.NoError(t, err)
	s.root, s.dir = root, filepath.Join(root, "data")
	require.NoError(t, os.Mkdir(s.dir, 0o700))
	if os.Getuid() == 0 {
		uid, gid := postgresUser(t)
		require.NoError(t, os.Chmod(root, 0o711))
		require.NoError(t, os.Chown(s.dir, uid, gid))
	}
	out, err := command(t, initdb, "--no-sync", "--auth", "trust", "--username", "postgres", "--pgdata", s.dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	hba := "host all,replication postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "pg_hba.conf"), []byte(hba), 0o600))
	s.port = freePort(t)
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs the server and returns when it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	// The shell ends the server when the pipe closes, even if this process is
	// killed.
	s.cmd = command(t, "sh", "-c", `"$@" & read -r _; kill -QUIT $!; wait`, "sh", bin(t, "postgres"), "-D", s.dir, "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-k", "",
		"-c", "max_connections=150", "-c", "fsync=off", "-c", "shared_buffers=64MB", "-c", "logging_collector=off", "-c", "log_min_messages=panic")
	pipe, err := s.cmd.StdinPipe()
	require.NoError(t, err)
	s.pipe = pipe
	require.NoError(t, s.cmd.Start())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.dsn())
		if err == nil {
			require.NoError(t, conn.Close(ctx))
			return
		}
		require.NoError(t, ctx.Err(), "%v", err)
	}
}

// kill ends the server at once, as a crash does.
func (s *server) kill() {
	_ = s.pipe.Close()
	_ = s.cmd.Wait()
}

func (s *server) stop() {
	if s.cmd != nil {
		s.kill()
	}
	if s.root != "" {
		_ = os.RemoveAll(s.root)
	}
}
