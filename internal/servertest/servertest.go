// Package servertest starts Redis, PostgreSQL and NATS servers of a test's own on
// free ports of loopback. Tests may stop, kill and damage them.
//
// A server ends with its test, and with the test's process however that ends. Tests
// never use a server that somebody else has started, unless HOTCOUNT_TEST_REDIS,
// HOTCOUNT_TEST_POSTGRES or HOTCOUNT_TEST_NATS names one. A test skips itself where
// the program of a server is not installed; with HOTCOUNT_CI=1 it fails.
package servertest

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
)

// patience bounds every wait for a server.
const patience = 30 * time.Second

// poll is the time between two looks at a server that starts.
const poll = 5 * time.Millisecond

// Absent skips a test for want of a service or program. In CI, where all of them
// are there, it fails.
func Absent(t testing.TB, what string, err error) {
	t.Helper()
	if os.Getenv("HOTCOUNT_CI") == "1" {
		t.Fatalf("no %s: %v", what, err)
	}
	t.Skipf("no %s: %v", what, err)
}

// FreePort returns a port of loopback on which nobody listens.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		// A node of a Redis cluster has a second port 10,000 above.
		if port := l.Addr().(*net.TCPAddr).Port; port < 55_000 {
			return port
		}
	}
	t.Fatal("no free port below 55000")
	return 0
}

// A kind is what the servers of one product have in common.
type kind struct {
	program string
	args    func(*Server) []string
	quit    syscall.Signal           // on which it ends in order
	ready   func(conn net.Conn) bool // asks over a new connection
}

// A Server is one that a test has started. Its methods must not be called by two
// goroutines at once, and fail the test when they do not succeed.
type Server struct {
	t    testing.TB
	kind *kind
	path string   // of the program
	args []string // the test's own
	root string   // holds data and what File writes
	port int
	as   *syscall.SysProcAttr // nil for the test's own user
	run  *run                 // nil while it is down
}

func newServer(t testing.TB, k *kind, args []string) *Server {
	t.Helper()
	path, err := find(k.program)
	if err != nil {
		Absent(t, k.program, err)
	}
	root, err := os.MkdirTemp("", "hotcount-"+k.program+"-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, kind: k, path: path, args: args, root: root, port: FreePort(t)}
	t.Cleanup(func() {
		s.Kill()
		os.RemoveAll(root)
	})
	s.must(os.Chmod(root, 0o711)) // a way through for who is not root
	return s
}

// Addr returns the address to connect to, the same for the server's whole life.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Port returns the port of Addr.
func (s *Server) Port() int { return s.port }

// File writes a file that the server can read and nobody else, and returns its
// path.
func (s *Server) File(name string, data []byte) string {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	s.must(os.WriteFile(path, data, 0o600))
	s.own(path)
	return path
}

// Configure sets the arguments with which the server is started from now on.
func (s *Server) Configure(args ...string) { s.args = args }

// Start starts the server and returns when it answers. One that ends at once is
// tried again, since what a killed one has left may be in its way for a moment.
func (s *Server) Start() {
	s.t.Helper()
	var log string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(poll) {
		s.launch()
		if s.await(deadline) {
			return
		}
		log = s.run.log.String()
		s.end(syscall.SIGKILL)
	}
	s.t.Fatalf("%s does not answer:\n%s", s.kind.program, log)
}

// Stop has the server write what it wants to and end.
func (s *Server) Stop() { s.end(s.kind.quit) }

// Kill ends the server at once, as a crash does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Keep copies the data of the server, which must be down or have nothing to write,
// for Bring.
func (s *Server) Keep(name string) {
	s.t.Helper()
	s.copy("data", name)
}

// Bring replaces the data of the server, which must be down, by those kept.
func (s *Server) Bring(name string) {
	s.t.Helper()
	s.must(os.RemoveAll(s.data()))
	s.copy(name, "data")
}

// Lose removes the data of the server, which must be down.
func (s *Server) Lose() {
	s.t.Helper()
	s.must(os.RemoveAll(s.data()))
	s.must(os.Mkdir(s.data(), 0o700))
	s.own(s.data())
}

// copy keeps owners and modes, which os.CopyFS does not.
func (s *Server) copy(from, to string) {
	s.t.Helper()
	out, err := exec.Command("cp", "-a", filepath.Join(s.root, from), filepath.Join(s.root, to)).CombinedOutput()
	if err != nil {
		s.t.Fatalf("copying %s: %v\n%s", from, err, out)
	}
}

func (s *Server) data() string { return filepath.Join(s.root, "data") }

func (s *Server) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// A run is one life of the server's process.
type run struct {
	process *os.Process // the server's
	shell   *exec.Cmd   // its parent
	pipe    *os.File    // whose end is the shell's sign
	log     bytes.Buffer
	ended   chan struct{} // closed when the shell has ended, and so the server
}

// guard runs a server and says its process id. If the pipe ends without a line,
// the process that had it has died, and so does the server.
const guard = `exec 3<&0
"$@" </dev/null 3<&- >&2 & echo $!
(read -r _ <&3 || kill -KILL $!) >/dev/null 2>&1 & exec 3<&-
wait %1`

func (s *Server) launch() {
	s.t.Helper()
	shell := exec.Command("sh", append([]string{"-c", guard, "sh", s.path}, s.kind.args(s)...)...)
	shell.Args = append(shell.Args, s.args...)
	shell.Dir = "/"
	shell.SysProcAttr = s.as
	r := &run{shell: shell, ended: make(chan struct{})}
	shell.Stderr = &r.log
	in, pipe, err := os.Pipe()
	s.must(err)
	defer in.Close()
	shell.Stdin, r.pipe = in, pipe
	out, err := shell.StdoutPipe()
	s.must(err)
	s.must(shell.Start())
	var pid int
	if _, err := fmt.Fscanln(out, &pid); err != nil {
		s.t.Fatalf("%s has not been started: %v", s.kind.program, err)
	}
	r.process, err = os.FindProcess(pid)
	s.must(err)
	go func() {
		defer close(r.ended)
		shell.Wait()
	}()
	s.run = r
}

// await reports whether the server answers before it ends.
func (s *Server) await(deadline time.Time) bool {
	for time.Now().Before(deadline) {
		conn, err := net.DialTimeout("tcp", s.Addr(), patience)
		if err == nil {
			conn.SetDeadline(deadline)
			ready := s.kind.ready(conn)
			conn.Close()
			if ready {
				return true
			}
		}
		select {
		case <-s.run.ended:
			return false
		case <-time.After(poll):
		}
	}
	return false
}

func (s *Server) end(signal os.Signal) {
	r := s.run
	if r == nil {
		return
	}
	s.run = nil
	r.process.Signal(signal)
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.process.Kill()
		s.t.Errorf("%s did not end on %v", s.kind.program, signal)
	}
	r.pipe.Write([]byte("\n"))
	r.pipe.Close()
}

// find returns the path of a server's program.
func find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	for _, dir := range postgresDirs() {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", err
}
