package servertest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

var redis = kind{
	program: "redis-server",
	quit:    syscall.SIGTERM,
	args: func(s *Server) []string {
		return []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.data(), "--save", ""}
	},
	ready: func(conn net.Conn) bool {
		fmt.Fprint(conn, "PING\r\n")
		answer, err := bufio.NewReader(conn).ReadString('\n')
		return err == nil && !strings.HasPrefix(answer, "-LOADING")
	},
}

// Redis starts a Redis that keeps nothing on disk unless args, which are those of
// redis-server, say so.
func Redis(t testing.TB, args ...string) *Server {
	t.Helper()
	s := newServer(t, &redis, args)
	s.must(os.Mkdir(s.data(), 0o700))
	s.Start()
	return s
}

var nats = kind{
	program: "nats-server",
	quit:    syscall.SIGTERM,
	args: func(s *Server) []string {
		return []string{"-a", "127.0.0.1", "-p", strconv.Itoa(s.port), "-js", "-sd", s.data()}
	},
	ready: func(conn net.Conn) bool {
		hello, err := bufio.NewReader(conn).ReadString('\n')
		return err == nil && strings.HasPrefix(hello, "INFO ")
	},
}

// NATS starts a NATS server with JetStream. A config, if not empty, is that of
// nats-server.
func NATS(t testing.TB, config string) *Server {
	t.Helper()
	s := newServer(t, &nats, nil)
	s.must(os.Mkdir(s.data(), 0o700))
	if config != "" {
		s.Configure("-c", s.File("nats.conf", []byte(config)))
	}
	s.Start()
	return s
}

var postgres = kind{
	program: "postgres",
	quit:    syscall.SIGINT, // a fast shutdown: clients are not waited for
	args: func(s *Server) []string {
		return []string{"-D", s.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-k", "",
			"-c", "max_connections=150", "-c", "shared_buffers=64MB",
			"-c", "logging_collector=off", "-c", "log_min_messages=fatal"}
	},
	ready: func(conn net.Conn) bool {
		const params = "user\x00postgres\x00database\x00postgres\x00\x00"
		const version3 = 3 << 16
		hello := binary.BigEndian.AppendUint32(nil, uint32(8+len(params)))
		hello = binary.BigEndian.AppendUint32(hello, version3)
		conn.Write(append(hello, params...))
		answer := make([]byte, 1024)
		n, err := conn.Read(answer)
		const starting = "57P03" // cannot_connect_now; any other answer is one
		return err == nil && !bytes.Contains(answer[:n], []byte(starting))
	},
}

// access lets postgres in, who has all rights, and has every other role tell its
// password.
const access = `host all,replication postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`

// Postgres starts a PostgreSQL server with the database and superuser postgres,
// and with settings such as "ssl=on". It does not wait for the disk: what it has
// confirmed outlives its own end, not that of the machine.
func Postgres(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := newPostgres(t, settings)
	initdb := s.command("initdb", "--no-sync", "--auth", "trust", "--username", "postgres", "--pgdata", s.data())
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.must(os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(access), 0o600))
	s.Start()
	return s
}

// Standby starts a replica of a PostgreSQL server: a copy of what that is now,
// which follows it if the two can connect, and else stays behind.
func (s *Server) Standby(follows bool) *Server {
	s.t.Helper()
	standby := newPostgres(s.t, nil)
	args := []string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-U", "postgres",
		"-D", standby.data(), "--checkpoint=fast", "--no-sync", "--wal-method=fetch"}
	if follows {
		args = append(args, "--write-recovery-conf")
	}
	if out, err := standby.command("pg_basebackup", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	s.must(os.WriteFile(filepath.Join(standby.data(), "standby.signal"), nil, 0o644))
	standby.Start()
	return standby
}

func newPostgres(t testing.TB, settings []string) *Server {
	t.Helper()
	if err := postgresMissing(); err != nil {
		Absent(t, "PostgreSQL", err)
	}
	s := newServer(t, &postgres, nil)
	var err error
	s.as, err = unprivileged()
	s.must(err)
	s.must(os.Mkdir(s.data(), 0o700))
	s.own(s.data())
	s.Set(settings...)
	return s
}

// Set has a PostgreSQL server take settings when it starts next.
func (s *Server) Set(settings ...string) {
	s.args = []string{"-c", "fsync=off"}
	for _, setting := range settings {
		s.args = append(s.args, "-c", setting)
	}
}

// command returns a run of one of PostgreSQL's programs, which refuse to run as
// root.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	s.t.Helper()
	path, err := find(program)
	if err != nil {
		Absent(s.t, program, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = s.as
	return cmd
}

// postgresDirs returns where Debian puts PostgreSQL's programs, the newest first.
func postgresDirs() []string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return versionOf(b) - versionOf(a) })
	return dirs
}

func versionOf(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}
