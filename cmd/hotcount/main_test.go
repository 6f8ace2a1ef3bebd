package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/cli"
)

var update = flag.Bool("update", false, "write golden files anew")

const (
	realLog = "../internal/replay/testdata/access.log.gz"
	oneLine = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5` + "\n"
)

// command runs the command as main does.
func command(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = program().Run(t.Context(), args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &err})
	return status, out.String(), err.String()
}

// succeed is command where nothing goes wrong.
func succeed(t *testing.T, stdin string, args ...string) (stdout string) {
	t.Helper()
	status, stdout, stderr := command(t, stdin, args...)
	require.Empty(t, stderr)
	require.Equal(t, cli.ExitOK, status)
	return stdout
}

// golden compares got, without what changes from run to run, with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = regexp.MustCompile(`[\d.]+ s: [\d,]+ lines/s`).ReplaceAllString(got, "TIME s: SPEED lines/s")
	got = regexp.MustCompile(`(in N goroutines \(default )\d+`).ReplaceAllString(got, "${1}GOMAXPROCS")
	got = regexp.MustCompile(`(with GOMAXPROCS N \(default )\d+`).ReplaceAllString(got, "${1}GOMAXPROCS")
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, name)
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"help", "-h", "-help", "--help"} {
		golden(t, "help.txt", succeed(t, "", arg))
	}
	for _, v := range program().Verbs {
		golden(t, v.Name+"-help.txt", succeed(t, "", v.Name, "-h"))
		golden(t, v.Name+"-help.txt", succeed(t, "", "help", v.Name))
	}
	status, stdout, stderr := command(t, "")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Empty(t, stdout)
	golden(t, "help.txt", stderr)
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"},
		{"replay"},
		{"replay", "-nonsense", realLog},
		{"replay", realLog, "-workers", "0"},
		{"replay", "-workers", "100000", realLog},
		{"replay", "-workers", "x", realLog},
		{"replay", "-top", "-1", realLog},
		{"replay", "-max-series", "0", realLog},
		{"replay", "-max-series", "3000000000", realLog},
		{"demo", "argument"},
		{"demo", "-clients", "0"},
		{"demo", "-clients", "1000000"},
		{"demo", "-for", "-1s"},
		{"demo", "-for", "10"},
		{"demo", "-dir", ""},
		{"demo", "-sink", "nonsense"},
		{"demo", "-sink", "gopher://me:secret@host"},
		{"version", "argument"},
	} {
		status, stdout, stderr := command(t, "", args...)
		assert.Equal(t, cli.ExitUsage, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotcount.*; see hotcount .*\n$`, stderr, args)
	}
}

func TestVersion(t *testing.T) {
	assert.Regexp(t, `^hotcount \S+.*, go1\.\S+, \w+/\w+\n$`, succeed(t, "", "version"))
	var v version
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", "version", "-json")), &v))
	assert.NotEmpty(t, v.Version)
	assert.NotEmpty(t, v.Platform)
}

func TestReplay(t *testing.T) {
	golden(t, "replay.txt", succeed(t, "", "replay", "-verify", "-workers", "3", "-top", "4", realLog))
}

// A log is the same log as a file, compressed, on standard input, in parts, and
// with any number of workers.
func TestReplayForms(t *testing.T) {
	const lines = 1_000 // package replay reads the whole of it
	text, packed := head(t, realLog, lines)
	plain := filepath.Join(t.TempDir(), "access.log")
	require.NoError(t, os.WriteFile(plain, text, 0o600))

	want := figures(t, succeed(t, string(packed), "replay", "-json", "-"))
	require.EqualValues(t, lines, want["lines"])
	assert.Equal(t, want, figures(t, succeed(t, "", "replay", "-json", "-workers", "64", "-verify", plain)))
	assert.Equal(t, want, figures(t, succeed(t, string(packed), "replay", "-json", "-workers", "1", "-")))
	assert.Equal(t, want, figures(t, succeed(t, string(text), "replay", "-", "-json")))
	rest := filepath.Join(t.TempDir(), "rest.log")
	cut := bytes.LastIndexByte(text[:len(text)/2], '\n') + 1
	require.NoError(t, os.WriteFile(rest, text[cut:], 0o600))
	assert.Equal(t, want, figures(t, succeed(t, string(text[:cut]), "replay", "-json", "--", "-", rest)))
}

// head returns the first lines of a compressed file, and the same compressed.
func head(t *testing.T, name string, lines int) (text, packed []byte) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	in := bufio.NewReader(z)
	for range lines {
		line, err := in.ReadBytes('\n')
		require.NoError(t, err)
		text = append(text, line...)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(text)
	require.NoError(t, errors.Join(err, w.Close()))
	return text, b.Bytes()
}

// figures returns what replay -json printed about the log.
func figures(t *testing.T, out string) map[string]any {
	var f map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &f))
	delete(f, "timing")
	delete(f, "verify")
	return f
}

func TestReplayRestores(t *testing.T) {
	dir := t.TempDir()
	first := figures(t, succeed(t, oneLine, "replay", "-json", "-dir", dir, "-"))
	assert.NotContains(t, first, "restored")
	second := figures(t, succeed(t, oneLine, "replay", "-json", "-verify", "-dir", dir, "-"))
	assert.EqualValues(t, 2, second["lines"])
	assert.EqualValues(t, 10, second["bytes"])
	assert.Contains(t, second, "restored")
	assert.Equal(t, first["this_run"], second["this_run"])
	assert.Contains(t, succeed(t, oneLine, "replay", "-dir", dir, "-"), "Restored 2 lines of")
}

func TestReplayOverflow(t *testing.T) {
	log := oneLine + strings.ReplaceAll(oneLine, "/a", "/b") + strings.ReplaceAll(oneLine, "/a", "/c")
	out := succeed(t, log, "replay", "-verify", "-max-series", "1", "-workers", "1", "-")
	assert.Contains(t, out, "1  /a\n")
	assert.Contains(t, out, "2  (every other path: there is room for 1)\n")
}

// What cannot be read fails the command, after what can be has been counted.
func TestReplayFails(t *testing.T) {
	status, stdout, stderr := command(t, oneLine, "replay", "absent.log", "-", "testdata")
	assert.Equal(t, cli.ExitFailure, status)
	assert.Regexp(t, `(?m)^ +1  lines$`, stdout)
	assert.Regexp(t, `^hotcount replay: absent.log: .*\nhotcount replay: testdata: .*\n$`, stderr)
}

func TestReplayDirInUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	status, stdout, stderr := command(t, oneLine, "replay", "-dir", file, "-")
	assert.Equal(t, cli.ExitFailure, status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "hotcount replay: ")
}

func TestReplayInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	status := program().Run(ctx, []string{"replay", realLog}, cli.Streams{Out: &out, Err: &errs})
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, errs.String(), "stopped before the end")
}

func TestDemo(t *testing.T) {
	dir := t.TempDir()
	type result struct {
		Views, Likes, Requests, Sent, Crowd int64
		Restarts                            int
		Differences                         []string
		Restored, Saved                     *struct{ Views, Likes int64 }
	}
	demo := func() (r result) {
		status, stdout, stderr := command(t, "", "demo", "-for", "100ms", "-json", "-dir", dir)
		require.Equal(t, cli.ExitOK, status, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		assert.Positive(t, r.Sent)
		assert.Equal(t, r.Sent+r.Crowd, r.Requests)
		assert.Equal(t, 1, r.Restarts)
		assert.Empty(t, r.Differences)
		assert.Equal(t, r.Views, r.Saved.Views)
		assert.Equal(t, r.Likes, r.Saved.Likes)
		return r
	}
	first := demo()
	assert.Nil(t, first.Restored)
	second := demo()
	assert.Equal(t, first.Saved, second.Restored)
	assert.Equal(t, first.Views+first.Likes+second.Requests, second.Views+second.Likes)

	status, stdout, stderr := command(t, "", "demo", "-for", "50ms", "-dir", dir)
	require.Equal(t, cli.ExitOK, status)
	assert.Regexp(t, `^Restored .*\nServing 100 posts at http://127\.0\.0\.1:\d+ to 4 clients\.\nLive page: http://127\.0\.0\.1:\d+/live/\n`, stderr)
	assert.Contains(t, stdout, "Checked, post by post: what was sent is what was counted and saved.\n")
}

// A signal ends a demo at any time, in order.
func TestDemoInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	errs := &countdown{left: 3, f: cancel}
	var out bytes.Buffer
	require.Equal(t, cli.ExitOK, program().Run(ctx, []string{"demo", "-for", "0", "-dir", dir}, cli.Streams{Out: &out, Err: errs}), errs.written.String())
	assert.Contains(t, out.String(), "Checked, post by post: ")
}

func TestDemoFails(t *testing.T) {
	status, stdout, stderr := command(t, "", "demo", "-for", "50ms", "-addr", "nonsense", "-dir", t.TempDir())
	assert.Equal(t, cli.ExitFailure, status)
	assert.Empty(t, stdout)
	assert.Regexp(t, `^hotcount demo: .*nonsense.*\n$`, stderr)

	dir := t.TempDir()
	e, err := hotcount.New(hotcount.Options{Dir: dir})
	require.NoError(t, err)
	defer e.Close(t.Context())
	status, _, stderr = command(t, "", "demo", "-for", "50ms", "-dir", dir)
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, stderr, "in use")
	assert.Contains(t, stderr, "needs another -dir")
}
