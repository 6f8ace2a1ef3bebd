package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/bench"
)

// few are cases that take no time to speak of.
const few = "^group/.*goroutines=1/"

func TestBench(t *testing.T) {
	dir := t.TempDir()
	csv, lines := filepath.Join(dir, "r.csv"), filepath.Join(dir, "r.txt")
	args := []string{"bench", "-json", "-filter", few, "-samples", "6", "-procs", "2", "-commit", "0123abc", "-csv", csv, "-benchstat", lines}
	status, stdout, stderr := command(t, "", args...)
	require.Equal(t, exitOK, status, stderr)
	assert.Contains(t, stderr, "left: group/impl=")
	r, err := bench.Decode(strings.NewReader(stdout))
	require.NoError(t, err)
	assert.Equal(t, "hotcount "+strings.Join(args, " "), r.Command)
	assert.Equal(t, "0123abc", r.Commit)
	assert.Equal(t, 2, r.Machine.Procs)
	require.NotEmpty(t, r.Results)

	// The same cases, in the same order, are in the list and in every form.
	var names []string
	for i := range r.Results {
		names = append(names, r.Results[i].Name())
	}
	assert.Equal(t, strings.Join(names, "\n")+"\n", succeed(t, "", "bench", "-list", "-filter", few, "-procs", "2"))
	var listed []string
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", "bench", "-list", "-json", "-filter", few, "-procs", "2")), &listed))
	assert.Equal(t, names, listed)
	again := filepath.Join(dir, "again")
	table := succeed(t, stdout, "bench", "-from", "-", "-csv", again)
	for i := range r.Results {
		assert.Contains(t, table, r.Results[i].Impl)
	}
	assert.Equal(t, read(t, csv), read(t, again))
	succeed(t, stdout, "bench", "-from", "-", "-benchstat", again)
	assert.Equal(t, read(t, lines), read(t, again))
	assert.Equal(t, stdout, succeed(t, stdout, "bench", "-from", "-", "-json"))
	succeed(t, stdout, "bench", "-from", "-", "-html", again)
	for i := range r.Results {
		assert.Contains(t, read(t, again), r.Results[i].Impl)
	}
}

func read(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestBenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	status := run(ctx, []string{"bench", "-filter", few}, streams{nil, &out, &errs})
	assert.Equal(t, exitFailure, status)
	assert.Empty(t, out.String())
	assert.Contains(t, errs.String(), "stopped before the end: ")
}

func TestBenchUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"bench", "argument"},
		{"bench", "-quick", "-full"},
		{"bench", "-quick", "-for", "1m"},
		{"bench", "-for", "-1s"},
		{"bench", "-for", "1ms"},
		{"bench", "-samples", "5"},
		{"bench", "-procs", "0"},
		{"bench", "-procs", "5000"},
		{"bench", "-workload", "add,nonsense"},
		{"bench", "-filter", "("},
		{"bench", "-filter", "nonsense"},
		{"bench", "-from", "x", "-list"},
	} {
		status, stdout, stderr := command(t, "", args...)
		assert.Equal(t, exitUsage, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotcount bench: .*; see hotcount bench -h\n$`, stderr, args)
	}
}

func TestBenchFails(t *testing.T) {
	for _, args := range [][]string{
		{"bench", "-from", "absent"},
		{"bench", "-from", "-"},
	} {
		status, stdout, stderr := command(t, "{}", args...)
		assert.Equal(t, exitFailure, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotcount bench: .*\n$`, stderr, args)
	}
}
