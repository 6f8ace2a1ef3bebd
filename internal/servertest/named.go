package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Variables that name a server for the tests that only use one, instead of one that
// they start. Whoever sets them wants the tests to run there, so a server that does
// not answer fails them.
const (
	redisVariable    = "HOTCOUNT_TEST_REDIS"    // host:port
	natsVariable     = "HOTCOUNT_TEST_NATS"     // host:port
	postgresVariable = "HOTCOUNT_TEST_POSTGRES" // the URL of a superuser's database
)

// RedisAddr returns the address of a Redis: the one that HOTCOUNT_TEST_REDIS names,
// or one that starts and ends with the test. A test leaves no key there.
func RedisAddr(t testing.TB) string {
	t.Helper()
	if addr := os.Getenv(redisVariable); addr != "" {
		return addr
	}
	return Redis(t).Addr()
}

// NATSAddr returns the address of a NATS server with JetStream: the one that
// HOTCOUNT_TEST_NATS names, or one that starts and ends with the test. A test leaves
// no stream there.
func NATSAddr(t testing.TB) string {
	t.Helper()
	if addr := os.Getenv(natsVariable); addr != "" {
		return addr
	}
	return NATS(t, "").Addr()
}

// PostgresURL returns the URL of a database as a superuser reaches it: the one that
// HOTCOUNT_TEST_POSTGRES names, or that of a server which starts with settings, as
// Postgres does, and ends with the test. A test leaves no database, schema or role
// there.
func PostgresURL(t testing.TB, settings ...string) string {
	t.Helper()
	if url := os.Getenv(postgresVariable); url != "" {
		return url
	}
	s := Postgres(t, settings...)
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", s.Addr())
}

// PostgresAbsent says why PostgresURL would skip a test, nil if it would not.
func PostgresAbsent() error {
	if os.Getenv(postgresVariable) != "" {
		return nil
	}
	return postgresMissing()
}

func postgresMissing() error {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := find(program); err != nil {
			return err
		}
	}
	_, err := unprivileged()
	return err
}

// A Binary stands for a whole test binary where one test would, for servers that its
// tests share. TestMain calls Close in the end.
type Binary struct {
	testing.TB // nil, for the methods that servers do not call
	cleanups   []func()
}

// Helper does nothing.
func (b *Binary) Helper() {}

// Cleanup has Close call f.
func (b *Binary) Cleanup(f func()) { b.cleanups = append(b.cleanups, f) }

// Fatal ends the test binary.
func (b *Binary) Fatal(args ...any) { b.end(fmt.Sprint(args...)) }

// Fatalf ends the test binary.
func (b *Binary) Fatalf(format string, args ...any) { b.end(fmt.Sprintf(format, args...)) }

// Skipf ends the test binary, since only a test can be skipped.
func (b *Binary) Skipf(format string, args ...any) { b.Fatalf(format, args...) }

// Errorf says what went wrong as servers ended.
func (b *Binary) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (b *Binary) end(why string) {
	b.Close()
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}

// Close ends the servers, the last one first.
func (b *Binary) Close() {
	for n := len(b.cleanups); n > 0; n = len(b.cleanups) {
		cleanup := b.cleanups[n-1]
		b.cleanups = b.cleanups[:n-1]
		cleanup()
	}
}

// Program returns the path of a client program, and skips a test that lacks it.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Absent(t, name, err)
	}
	return path
}
