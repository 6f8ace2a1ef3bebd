package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/bench"
)

func sample() *bench.Report {
	r := &bench.Report{
		Machine: bench.Machine{CPU: "Engine | 9", Cores: 4, Procs: 2, Go: "go1.26.8", OS: "linux", Arch: "amd64"},
		Command: "hotbench run -filter '`a|b` <!-- bench:end add -->'", Commit: "0123abc",
		Date: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Samples: 3, Noise: bench.Noise{Disturbed: 0.25, Busy: 0.9, Steal: -1},
	}
	add := func(res bench.Result, ops ...float64) {
		res.OpsPerSecond = ops
		r.Results = append(r.Results, res)
	}
	for _, g := range []int{1, 2, 4096} {
		add(bench.Result{Workload: "add", Impl: "hotcount", Pick: "Auto", Goroutines: g, Keys: "one", BytesPerCounter: 16,
			Latency: &bench.Percentiles{Samples: 7, P50: 1, P90: 2, P99: 3, P999: 4, Max: 5}}, 2e8, 1e8, 3e8)
		add(bench.Result{Workload: "add", Impl: "hotcount", Stripes: 2, Pick: "PerP", Goroutines: g, Keys: "one", StripeShares: []float64{0.75, 0.25}}, 1e8)
		add(bench.Result{Workload: "add", Impl: "atomic", Goroutines: g, Keys: "one", Disturbed: 1}, 4e8)
	}
	add(bench.Result{Workload: "add", Impl: "hotcount", Goroutines: 2, Keys: "zipf"}, 5e7)
	add(bench.Result{Workload: "add", Impl: "hotcount", Goroutines: 2, Keys: "one", ReadPercent: 10}, 6e7)
	add(bench.Result{Workload: "lookup", Impl: "hotcount", Goroutines: 2, Keys: "uniform", BytesPerCounter: 105}, 7e7)
	return r
}

func TestSections(t *testing.T) {
	for name, want := range map[string]string{
		"add": "| million operations per second | 1 goroutine | 2 goroutines | 4096 goroutines |\n|---|--:|--:|--:|\n" +
			"| hotcount | 200 ±25 % | 200 ±25 % | 200 ±25 % |\n| atomic | 400 ±0 %\\* | 400 ±0 %\\* | 400 ±0 %\\* |\n",
		"stripes": "| 2 stripes, PerP | 100 ±0 % | 100 ±0 % | 100 ±0 % |\n",
		"skew":    "| 2 stripes, PerP | 1.50 | 1.50 | 1.50 |\n",
		"reads":   "| million operations per second | 0 % reads | 10 % reads |\n|---|--:|--:|\n| hotcount | 200 ±25 % | 60.0 ±0 % |\n",
		"keys":    "| million operations per second | one counter | 1,000, Zipf |\n|---|--:|--:|\n| hotcount | 200 ±25 % | 50.0 ±0 % |\n",
		"latency": "| hotcount | 1 | 2 | 3 | 4 | 5 | 7 |\n",
		"memory":  "| bytes of heap | a counter | a labelled counter |\n|---|--:|--:|\n| hotcount | 16 | 105 |\n",
		"cost": "| add to one counter | 200 ±25 % | atomic 400 (0.50 ×) |\n" +
			"| find a counter by two labels, and add | 70.0 ±0 % |  |\n",
		"noise": "- This machine has 4 cores: nothing here says what more of them would do.\n- GOMAXPROCS was 2, not 4.\n",
		"group": "The result file has none of these.\n",
	} {
		text, err := section(name, sample())
		require.NoError(t, err)
		assert.Contains(t, text, want, name)
		assert.True(t, strings.HasPrefix(text, "Engine &#124; 9, 4 cores, GOMAXPROCS 2; go1.26.8, linux/amd64; commit <code>0123abc</code>; 2026-05-04; <code>hotbench run"), text)
		assert.NotContains(t, text, "<!--")
	}
}

// Every section can be made of any report, an empty one too.
func TestEmptyReport(t *testing.T) {
	for name := range sections {
		_, err := section(name, &bench.Report{Machine: bench.Machine{Cores: 1, Procs: 1}, Samples: 1})
		assert.NoError(t, err)
	}
}

func TestReplace(t *testing.T) {
	named := func(name string) (string, error) { return "section " + name + "\n", nil }
	page := "a\n<!-- bench:begin x -->\nold\n<!-- bench:begin -->\n<!-- bench:end x -->\nb <!-- bench:begin y --> c"
	want := "a\n<!-- bench:begin x -->\n\nsection x\n\n<!-- bench:end x -->\nb <!-- bench:begin y --> c"
	once, err := replace([]byte(page), named)
	require.NoError(t, err)
	assert.Equal(t, want, string(once))
	twice, err := replace(once, named)
	require.NoError(t, err)
	assert.Equal(t, want, string(twice), "again changes nothing")

	for _, page := range []string{
		"<!-- bench:begin x -->\n",
		"<!-- bench:end x -->\n",
		"<!-- bench:begin x -->\n<!-- bench:end y -->\n",
		"<!-- bench:begin x -->\n<!-- bench:begin y -->\n<!-- bench:end y -->\n<!-- bench:end x -->\n",
	} {
		_, err := replace([]byte(page), named)
		assert.ErrorIs(t, err, errMarkers, page)
	}
}

// An error in one page leaves all of them as they are.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	var result bytes.Buffer
	require.NoError(t, sample().WriteJSON(&result))
	from := write("r.json", result.String())
	empty := "<!-- bench:begin add -->\n<!-- bench:end add -->\n"
	good := write("good.md", empty)
	bad := write("bad.md", "<!-- bench:begin nonsense -->\n<!-- bench:end nonsense -->\n")

	for _, c := range []struct {
		args   []string
		status int
		stderr string
	}{
		{nil, exitUsage, "Usage: "},
		{[]string{"-from", from}, exitUsage, "Usage: "},
		{[]string{"-nonsense"}, exitUsage, "Usage: "},
		{[]string{"-h"}, exitOK, "Usage: "},
		{[]string{"-from", filepath.Join(dir, "absent"), good}, exitFailure, "absent"},
		{[]string{"-from", good, good}, exitFailure, "good.md: " + bench.ErrFormat.Error()},
		{[]string{"-from", from, good, filepath.Join(dir, "absent")}, exitFailure, "absent"},
		{[]string{"-from", from, good, bad}, exitFailure, fmt.Sprintf("%s: line 1: %v", bad, errSection)},
	} {
		var stderr bytes.Buffer
		assert.Equal(t, c.status, run(c.args, &stderr), c.args)
		assert.Contains(t, stderr.String(), c.stderr)
		text, err := os.ReadFile(good)
		require.NoError(t, err)
		assert.Equal(t, empty, string(text))
	}
	var stderr bytes.Buffer
	require.Equal(t, exitOK, run([]string{"-from", from, good}, &stderr), stderr.String())
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| atomic | 400 ")
}
