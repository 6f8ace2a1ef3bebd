package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/cli"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

const (
	firstRun  = "019e0000000070008000000000000001"
	secondRun = "019e0000000070008000000000000002"
)

var startOfTests = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// snapshotOf returns a snapshot of a run, taken 10 s after the one before it, in
// which n hits of each path have been counted.
func snapshotOf(t *testing.T, writer string, seq uint64, n int64) *snapshot.Snapshot {
	t.Helper()
	w, err := snapshot.ParseWriterID(writer)
	require.NoError(t, err)
	key := func(text string) series.Key {
		k, err := series.ParseKey(text)
		require.NoError(t, err)
		return k
	}
	s := &snapshot.Snapshot{Writer: w, Seq: seq, Started: startOfTests, Taken: startOfTests.Add(time.Duration(seq) * 10 * time.Second)}
	for i, text := range []string{`hits_total{path="/"}`, "hits_total{path=\"\x1b[2J\xff\u202e\"}", "jobs_total"} {
		s.Counters = append(s.Counters, snapshot.CounterRow{Key: key(text), Created: startOfTests.UnixNano(), Value: n * int64(i+1)})
	}
	s.Counters = append(s.Counters, snapshot.CounterRow{Key: key("hotcount_snapshots_total"), Created: startOfTests.UnixNano(), Value: int64(seq)})
	if seq == 1 {
		s.Final = []snapshot.CounterRow{{Key: key(`hits_total{path="/gone"}`), Created: startOfTests.UnixNano(), Value: 7}}
	}
	var sketch hll.Sketch
	for i := range uint64(n) {
		sketch.AddString(strings.Repeat("x", int(i%97)))
	}
	encoded, err := sketch.MarshalBinary()
	require.NoError(t, err)
	s.Uniques = []snapshot.UniquesRow{{Key: key("visitors"), Created: startOfTests.UnixNano(), Scheme: sketch.Scheme(), Sketch: encoded}}
	s.Gauges = []snapshot.GaugeRow{{Key: key("hotcount_series"), Value: 4}}
	return s
}

// kept returns a directory with a folded run and three generations of another.
func kept(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	writeKept(t, dir, snapshotOf(t, firstRun, 1, 100))
	sink, err := filesink.Open(filesink.Options{Dir: dir})
	require.NoError(t, err)
	for _, s := range sink.Restored() {
		require.NoError(t, sink.Fold(s.Writer))
	}
	require.NoError(t, sink.Close())
	writeKept(t, dir, snapshotOf(t, secondRun, 1, 10), snapshotOf(t, secondRun, 2, 20), snapshotOf(t, secondRun, 3, 50))
	return dir
}

func writeKept(t *testing.T, dir string, snapshots ...*snapshot.Snapshot) {
	t.Helper()
	sink, err := filesink.Open(filesink.Options{Dir: dir})
	require.NoError(t, err)
	for _, s := range snapshots {
		require.NoError(t, sink.Write(t.Context(), s))
	}
	require.NoError(t, sink.Close())
}

// generation returns the name of a snapshot file.
func generation(dir, writer string, seq string) string {
	return filepath.Join(dir, writer+"-"+strings.Repeat("0", 20-len(seq))+seq+".hcs")
}

func damage(t *testing.T, name string) {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	content[len(content)/2] ^= 1
	require.NoError(t, os.WriteFile(name, content, 0o600))
}

// listing returns a directory's files and their contents.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(content)
	}
	return files
}

// Verbs that read say what is there, in tables that no label can break, and
// leave the directory as it is.
func TestReadingVerbs(t *testing.T) {
	dir := kept(t)
	before := listing(t, dir)
	csv := filepath.Join(t.TempDir(), "truth.csv")
	require.NoError(t, os.WriteFile(csv, []byte("series,total\njobs_total,450\n"), 0o600))
	for name, args := range map[string][]string{
		"inspect-dir":  {"inspect", dir},
		"inspect-file": {"inspect", generation(dir, secondRun, "3")},
		"inspect-base": {"inspect", generation(dir, strings.Repeat("0", 32), "1"), "-rows", "2"},
		"inspect-diff": {"inspect", generation(dir, secondRun, "2"), generation(dir, secondRun, "3")},
		"verify":       {"verify", dir},
		"totals":       {"totals", dir},
		"totals-top":   {"totals", "file:" + dir, "*", "-top", "1"},
		"reconcile":    {"reconcile", dir, csv},
	} {
		out := succeed(t, "", args...)
		assert.NotContains(t, out, "\x1b", name)
		golden(t, name+".txt", strings.ReplaceAll(out, dir, "DIR"))
		out = succeed(t, "", append(args, "-json")...)
		require.True(t, json.Valid([]byte(out)), name)
		if args[0] != "totals" { // which says when it was read
			golden(t, name+".json", strings.ReplaceAll(out, dir, "DIR"))
		}
	}
	assert.Equal(t, before, listing(t, dir))
}

func TestVerifyDamage(t *testing.T) {
	dir := kept(t)
	damage(t, generation(dir, secondRun, "3"))
	status, stdout, stderr := command(t, "", "verify", dir)
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, stderr, "1 of 5 snapshots cannot be read")
	assert.Contains(t, stdout, "An engine would restore")
	assert.Contains(t, stdout, "set aside 1 damaged file")
	assert.Contains(t, succeed(t, "", "inspect", dir), "damaged: ")

	damage(t, generation(dir, secondRun, "2"))
	damage(t, generation(dir, secondRun, "1"))
	status, stdout, stderr = command(t, "", "verify", dir)
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, stderr, "an engine would not start")
	assert.Contains(t, stdout, "An engine would not start")
	assert.Contains(t, succeed(t, "", "inspect", dir), "nothing of it can be read")

	for _, args := range [][]string{
		{"totals", dir}, {"export", dir, "file:" + t.TempDir()}, {"inspect", generation(dir, secondRun, "1")},
		{"inspect", "absent"}, {"verify", "absent"}, {"totals", "absent"}, {"totals", generation(dir, secondRun, "1")},
		{"export", "absent", "file:" + t.TempDir()}, {"export", t.TempDir(), "file:" + t.TempDir()},
		{"reconcile", dir, "absent.csv"}, {"reconcile", "absent", "-"}, {"reconcile", "-adjust", "absent", "-"},
	} {
		status, stdout, stderr := command(t, "", args...)
		assert.Equal(t, cli.ExitFailure, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, "^hotcount "+args[0]+": ", stderr, args)
	}
	assert.NoDirExists(t, "absent")
}

func TestKeptUsage(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"inspect"}, {"inspect", "a", "b", "c"}, {"inspect", "-rows", "-1", dir},
		{"verify"}, {"verify", "a", "b"},
		{"totals"}, {"totals", "a", "b", "c"}, {"totals", "-top", "-1", dir}, {"totals", "-watch", "-1s", dir},
		{"totals", "gopher://host"},
		{"export"}, {"export", dir}, {"export", dir, "b", "c"}, {"export", dir, "gopher://me:secret@host"}, {"export", dir, "plain"},
		{"export", "-as", "new", "-resume", dir, "file:x"}, {"export", "-timeout", "0s", dir, "file:x"},
		{"export", "-as", "no id", kept(t), "file:x"}, {"export", "-as", strings.Repeat("0", 32), kept(t), "file:x"},
		{"reconcile"}, {"reconcile", dir},
	} {
		status, stdout, stderr := command(t, "", args...)
		assert.Equal(t, cli.ExitUsage, status, args)
		assert.Empty(t, stdout, args)
		assert.Regexp(t, `^hotcount.*; see hotcount .*\n$`, stderr, args)
		assert.NotContains(t, stderr, "secret")
	}
	_, _, stderr := command(t, "", "export", dir, "gopher://host")
	assert.Contains(t, stderr, "known are file:DIR")
}

// lifetimes returns the counters that totals prints.
func lifetimes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	var got struct {
		Counters []struct {
			Series string
			Value  int64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", "totals", "-json", dir)), &got))
	counters := map[string]int64{}
	for _, c := range got.Counters {
		counters[c.Series] = c.Value
	}
	return counters
}

// Sums over runs are sent as one writer, which later exports replace: the totals
// are equal however often.
func TestExportAsOneWriter(t *testing.T) {
	dir, other := kept(t), filepath.Join(t.TempDir(), "other")
	status, _, stderr := command(t, "", "export", dir, "file:"+other)
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, stderr, "-as new")
	assert.NoDirExists(t, other)

	var sent struct{ As string }
	require.NoError(t, json.Unmarshal([]byte(succeed(t, "", "export", "-json", "-as", "new", dir, "file:"+other)), &sent))
	assert.Equal(t, lifetimes(t, dir), lifetimes(t, other))
	assert.Contains(t, succeed(t, "", "export", "-as", sent.As, dir, "file:"+other), sent.As)
	assert.Equal(t, lifetimes(t, dir), lifetimes(t, other), "the same again")

	program().Run(t.Context(), []string{"replay", "-dir", dir, "-"}, cli.Streams{In: strings.NewReader(oneLine), Out: new(bytes.Buffer), Err: new(bytes.Buffer)})
	require.Contains(t, lifetimes(t, dir), "access_log_lines_total")
	succeed(t, "", "export", "-as", sent.As, dir, "file:"+other)
	assert.Equal(t, lifetimes(t, dir), lifetimes(t, other), "after a run more and a fold")
}

// Writers that are whole are sent under their own ids, and only once each.
func TestExportWriters(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	writeKept(t, dir, snapshotOf(t, firstRun, 1, 100), snapshotOf(t, secondRun, 1, 10))
	t.Setenv(sinkVariable, "file:"+other)
	for range 2 {
		assert.Equal(t, "Sent 12 rows of 2 writers to file:"+other+".\n", succeed(t, "", "export", dir))
		assert.Equal(t, lifetimes(t, dir), lifetimes(t, other))
	}
	assert.Contains(t, succeed(t, "", "totals"), "jobs_total")
	resumed := t.TempDir()
	succeed(t, "", "export", "-resume", kept(t), "file:"+resumed)
	assert.EqualValues(t, 150, lifetimes(t, resumed)["jobs_total"], "the second run's alone")
}

func TestTotalsPattern(t *testing.T) {
	dir := kept(t)
	for pattern, want := range map[string][]string{
		"":                       {"hits_total{", "jobs_total", "visitors"},
		"hits_total":             {"hits_total{"},
		"*_total":                {"hits_total{", "jobs_total", "hotcount_snapshots_total"},
		`hits_total{path="/g*"}`: {`hits_total{path="/gone"}`},
		"hotcount_*":             {"hotcount_snapshots_total"},
		"v*t*rs":                 {"visitors"},
		"jobs":                   nil,
	} {
		out := succeed(t, "", "totals", dir, pattern)
		for _, series := range []string{"hits_total{", "jobs_total", "visitors", "hotcount_snapshots_total", `hits_total{path="/gone"}`} {
			found := false
			for _, w := range want {
				found = found || strings.HasPrefix(series, w)
			}
			if found {
				assert.Contains(t, out, series, pattern)
			} else if !strings.HasPrefix(series, "hits_total{") || want == nil {
				assert.NotContains(t, out, series, pattern)
			}
		}
	}
}

// A writer that calls f when it has been written to so often.
type countdown struct {
	written bytes.Buffer // no embedded one, whose WriteString would go past Write
	left    int
	f       func()
}

func (c *countdown) Write(p []byte) (int, error) {
	if c.left--; c.left == 0 {
		c.f()
	}
	return c.written.Write(p)
}

// Watching prints again, with rates, and ends without an error.
func TestTotalsWatch(t *testing.T) {
	dir := kept(t)
	for _, flags := range [][]string{nil, {"-json"}} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &countdown{left: 3, f: cancel}
		var errs bytes.Buffer
		args := append([]string{"totals", "-watch", "1ms", dir}, flags...)
		require.Equal(t, cli.ExitOK, program().Run(ctx, args, cli.Streams{Out: out, Err: &errs}), errs.String())
		assert.GreaterOrEqual(t, strings.Count(out.written.String(), "jobs_total"), 3)
		assert.Regexp(t, "per.second", out.written.String())
	}
}

// Booking makes the totals the truth, for every series that can be told apart,
// and shows in the snapshots.
func TestReconcileAdjusts(t *testing.T) {
	dir := kept(t)
	csv := `series,total
"hits_total{path=""/""}",1000
"hits_total{path=""/new""}",5
jobs_total,450
`
	status, stdout, stderr := command(t, csv, "reconcile", dir, "-")
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, stderr, "2 of 3 series differ")
	golden(t, "reconcile-drift.txt", stdout)

	out := succeed(t, csv, "reconcile", "-adjust", dir, "-")
	assert.Contains(t, out, "All are booked.")
	got := lifetimes(t, dir)
	assert.EqualValues(t, 1000, got[`hits_total{path="/"}`])
	assert.EqualValues(t, 5, got[`hits_total{path="/new"}`])
	assert.EqualValues(t, 450, got["jobs_total"])
	assert.Contains(t, succeed(t, "", "totals", dir, "hotcount_adjustments"), `850        1  hotcount_adjustments{series="hits_total{path=\"/\"}"}`)
	assert.Contains(t, succeed(t, csv, "reconcile", dir, "-"), "3 series compared, 0 differ")
}

// What may be in an overflow series is not booked a second time.
func TestReconcileOverflow(t *testing.T) {
	dir := t.TempDir()
	e, err := hotcount.New(hotcount.Options{Dir: dir, Limits: hotcount.Limits{FamilySeries: 1}})
	require.NoError(t, err)
	v := e.CounterVec("hits_total", "path")
	v.With("/a").Inc()
	v.With("/b").Inc()
	require.NoError(t, e.Close(t.Context()))
	csv := "\"hits_total{path=\"\"/a\"\"}\",1\n\"hits_total{path=\"\"/b\"\"}\",1\n"
	before := lifetimes(t, dir)
	assert.Contains(t, succeed(t, csv, "reconcile", "-adjust", dir, "-"), "1 more may be part of an overflow series")
	assert.Equal(t, before, lifetimes(t, dir))
}

// A series that cannot be booked is named, and the others are booked.
func TestReconcileRefusal(t *testing.T) {
	dir := kept(t)
	csv := "\"hits_total{other=\"\"label\"\"}\",1\njobs_total,1\n\"hits_total{path=\"\"/\"\"}\",1\n"
	status, stdout, stderr := command(t, csv, "reconcile", "-adjust", dir, "-")
	assert.Equal(t, cli.ExitFailure, status)
	assert.Contains(t, stderr, `cannot adjust hits_total{path="/"}`)
	assert.NotContains(t, stdout, "All are booked.")
	assert.EqualValues(t, 1, lifetimes(t, dir)["jobs_total"])
}
