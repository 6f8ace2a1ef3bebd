package natssink

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for a server.
const patience = 20 * time.Second

// A server is a nats-server of the test's own on a free port.
type server struct {
	t    testing.TB
	dir  string
	port int
	args []string
	cmd  *exec.Cmd
	out  bytes.Buffer
}

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.Close()
	s := &server{t: t, dir: filepath.Join(t.TempDir(), "now"), port: l.Addr().(*net.TCPAddr).Port, args: args}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// start returns when the server takes connections.
func (s *server) start() {
	s.t.Helper()
	path, err := exec.LookPath("nats-server")
	if err != nil {
		absent(s.t, "nats-server", err)
	}
	s.cmd = exec.Command(path, append(s.args, "-a", "127.0.0.1", "-p", strconv.Itoa(s.port), "-js", "-sd", s.dir)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	require.NoError(s.t, s.cmd.Start())
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		c, err := net.Dial("tcp", s.addr())
		if err == nil {
			c.Close()
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-s.t.Context().Done():
		}
	}
	s.t.Fatalf("the server does not answer:\n%s", &s.out)
}

// stop ends the server after it has written its files.
func (s *server) stop() {
	if s.cmd != nil {
		s.cmd.Process.Signal(syscall.SIGTERM)
		s.cmd.Wait()
		s.cmd = nil
	}
}

// keep copies what the server has stored.
func (s *server) keep(name string) (dir string) {
	s.t.Helper()
	dir = filepath.Join(filepath.Dir(s.dir), name)
	require.NoError(s.t, os.CopyFS(dir, os.DirFS(s.dir)))
	return dir
}

// restore puts back what keep has copied.
func (s *server) restore(dir string) {
	s.t.Helper()
	require.NoError(s.t, os.RemoveAll(s.dir))
	require.NoError(s.t, os.CopyFS(s.dir, os.DirFS(dir)))
}
