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
	"github.com/hotcount/hotcount/internal/cli"
)

// few are cases that take no time to speak of.
const few = "^group/.*goroutines=1/"

func TestRun(t *testing.T) {
	dir := t.TempDir()
	csv, lines := filepath.Join(dir, "r.csv"), filepath.Join(dir, "r.txt")
	args := []string{"run", "-json", "-filter", few, "-samples", "6", "-procs", "2", "-commit", "0123abc", "-csv", csv, "-benchstat", lines}
	status, stdout, stderr := command(t, "", args...)
	require.Equal(t, cli.ExitOK, status, stderr)
	assert.Contains(t, stderr, "left: group/impl=")
	r, err := bench.Decode(strings.NewReader(stdout))
	require.NoError(t, err)
	assert.Equal(t, "hotbench "+strings.Join(args, " "), r.Command)
	assert.Equal(t, "0123abc", r.Commit)
	assert.Equal(t, 2, r.Machine.Procs)
	require.NotEmpty(t, r.Results)

	// The same cases, in the same order, are in the list and in every form.
	var names []string
	for i := range r.Results {
		names = append(names, r.Results[i].Name())
	}
	assert.Equal(t, strings.Join(names, "\n")+"\n", succeed(t, "", "run", "-list", "-filter", few, "-procs", "2"))
	var listed []string
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", "run", "-list", "-json", "-filter", few, "-procs", "2")), &listed))
	assert.Equal(t, names, listed)
	again := filepath.Join(dir, "again")
	table := succeed(t, stdout, "report", "-", "-csv", again)
	for i := range r.Results {
		assert.Contains(t, table, r.Results[i].Impl)
	}
	assert.Equal(t, content(t, csv), content(t, again))
	succeed(t, stdout, "report", "-", "-benchstat", again)
	assert.Equal(t, content(t, lines), content(t, again))
	assert.Equal(t, stdout, succeed(t, stdout, "report", "-", "-json"))
	succeed(t, stdout, "report", "-", "-html", again)
	for i := range r.Results {
		assert.Contains(t, content(t, again), r.Results[i].Impl)
	}
}

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

func content(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	status := program().Run(ctx, []string{"run", "-filter", few}, cli.Streams{Out: &out, Err: &errs})
	assert.Equal(t, cli.ExitFailure, status)
	assert.Empty(t, out.String())
	assert.Contains(t, errs.String(), "stopped before the end: ")
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"run", "argument"},
		{"report"},
		{"report", "a", "b"},
		{"simulate", "-sockets", "-1"},
		{"simulate", "-cross", "NaN"},
		{"nonsense"},
		{"run", "-quick", "-full"},
		{"run", "-quick", "-for", "1m"},
		{"run", "-for", "-1s"},
		{"run", "-for", "1ms"},
		{"run", "-samples", "5"},
		{"run", "-procs", "0"},
		{"run", "-procs", "5000"},
		{"run", "-workload", "add,nonsense"},
		{"run", "-filter", "("},
		{"run", "-filter", "nonsense"},
	} {
		status, stdout, stderr := command(t, "", args...)
		assert.Equal(t, cli.ExitUsage, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotbench.*; see hotbench .*\n$`, stderr, args)
	}
}

func TestFails(t *testing.T) {
	for _, args := range [][]string{
		{"report", "absent"},
		{"report", "-"},
	} {
		status, stdout, stderr := command(t, "{}", args...)
		assert.Equal(t, cli.ExitFailure, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotbench report: .*\n$`, stderr, args)
	}
}

func TestHelp(t *testing.T) {
	help := succeed(t, "", "help")
	for _, v := range program().Verbs {
		assert.Contains(t, help, "  hotbench "+v.Name)
		assert.Contains(t, succeed(t, "", v.Name, "-h"), "\nUsage: hotbench "+v.Name+" [FLAG…]")
	}
}
