package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
)

// start watches a free port, and returns its address and a function that ends it and
// returns what watch does.
func start(t *testing.T) (addr string, lines *bufio.Reader, stop func() error) {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watch(ctx, []string{"0"}, w) }()
	lines = bufio.NewReader(r)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "watching ")
	if !ok {
		t.Fatalf("the first line is %q", line)
	}
	return addr, lines, func() error {
		cancel()
		return <-ended
	}
}

func TestNobodyCame(t *testing.T) {
	_, _, stop := start(t)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestSomebodyCame(t *testing.T) {
	addr, lines, stop := start(t)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(line, `came to `+addr+` and said "PING\r\n"`) {
		t.Errorf("it printed %q, %v", line, err)
	}
	if err := stop(); err == nil || !strings.Contains(err.Error(), "1 connections") {
		t.Errorf("somebody came, and the error is %v", err)
	}
}

func TestATakenPortIsNotWatched(t *testing.T) {
	addr, _, stop := start(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := watch(t.Context(), []string{port}, &out); err == nil || !strings.HasPrefix(out.String(), "not watched: ") {
		t.Errorf("it printed %q, and the error is %v", out.String(), err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
