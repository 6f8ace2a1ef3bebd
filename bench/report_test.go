package bench

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleReport returns a report that has every field.
func sampleReport() *Report {
	return &Report{
		Machine: Machine{CPU: "Engine 9 @ 2.4 GHz", Cores: 4, Procs: 2, Go: "go1.26.8", OS: "linux", Arch: "amd64"},
		Command: "hotbench run -quick",
		Commit:  "0123456789ab+",
		Date:    time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Samples: 3,
		Noise:   Noise{Disturbed: 0.25, Busy: 0.9, Steal: -1},
		Results: []Result{
			{
				Workload: "add", Impl: "hotcount", Stripes: 4, Pick: "PerP",
				Goroutines: 2, ReadPercent: 1, Keys: "zipf",
				OpsPerSecond: []float64{4e8, 2e8, 1e8}, Disturbed: 1,
				Latency:         &Percentiles{Samples: 1000, Clock: 40, P50: 5, P90: 7.5, P99: 9, P999: 30, Max: 1e6},
				BytesPerCounter: 256, StripeShares: []float64{0.5, 0.5, 0, 0},
			},
			{Workload: "add", Impl: "atomic", Goroutines: 1, Keys: "one", OpsPerSecond: []float64{1e8}},
		},
	}
}

func TestReportRoundTrip(t *testing.T) {
	want := sampleReport()
	var b bytes.Buffer
	require.NoError(t, want.WriteJSON(&b))
	got, err := Decode(&b)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// What no run can give is neither written nor read.
func TestReportInvalid(t *testing.T) {
	for what, spoil := range map[string]func(r *Report){
		"machine.cpu":       func(r *Report) { r.Machine.CPU = "\x1b[31mred" },
		"machine ":          func(r *Report) { r.Machine.Cores = 0 },
		"command":           func(r *Report) { r.Command = strings.Repeat("x", maxText+1) },
		"commit":            func(r *Report) { r.Commit = "\xff" },
		"samples":           func(r *Report) { r.Samples = 0 },
		"noise":             func(r *Report) { r.Noise.Busy = math.NaN() },
		"workload":          func(r *Report) { r.Results[0].Workload = "" },
		"impl":              func(r *Report) { r.Results[0].Impl = "a/b" },
		"keys":              func(r *Report) { r.Results[0].Keys = "one two" },
		"pick":              func(r *Report) { r.Results[0].Pick = "Any" },
		"stripes":           func(r *Report) { r.Results[0].Stripes = -1 },
		"goroutines":        func(r *Report) { r.Results[0].Goroutines = 0 },
		"read_percent":      func(r *Report) { r.Results[0].ReadPercent = 101 },
		"ops_per_second is": func(r *Report) { r.Results[0].OpsPerSecond = nil },
		"ops_per_second ha": func(r *Report) { r.Results[0].OpsPerSecond[1] = math.Inf(1) },
		"disturbed":         func(r *Report) { r.Results[0].Disturbed = 4 },
		"bytes_per_counter": func(r *Report) { r.Results[0].BytesPerCounter = -1 },
		"stripe_shares":     func(r *Report) { r.Results[0].StripeShares[0] = 2 },
		"latency has 0":     func(r *Report) { r.Results[0].Latency.Samples = 0 },
		"latency has perc":  func(r *Report) { r.Results[0].Latency.P90 = 1 },
		"results[1]":        func(r *Report) { r.Results[1].Impl = "-x" },
	} {
		r := sampleReport()
		spoil(r)
		for _, write := range []func() error{
			func() error { return r.WriteJSON(new(bytes.Buffer)) },
			func() error { return r.WriteBench(new(bytes.Buffer)) },
			func() error { return r.WriteCSV(new(bytes.Buffer)) },
		} {
			err := write()
			assert.ErrorIs(t, err, ErrFormat, what)
			assert.ErrorContains(t, err, what)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sampleReport().WriteJSON(&b))
	whole := b.String()
	for text, want := range map[string]string{
		"":                             "unexpected end of JSON input",
		"null":                         `the format is "", not "hotcount-bench/1"`,
		"[]":                           "cannot unmarshal array",
		`{"format": "pprof/1"}`:        `the format is "pprof/1"`,
		whole[:len(whole)/2]:           "unexpected end of JSON input",
		whole + "{}":                   "after top-level value",
		`{"format": "` + format + `"}`: "machine has less than one processor",
		strings.Replace(whole, `"impl"`, `"lmpi"`, 1):                   `unknown field "lmpi"`,
		strings.Replace(whole, `"samples": 3`, `"samples": 3.5`, 1):     "cannot unmarshal number 3.5",
		strings.Replace(whole, `"goroutines": 2`, `"goroutines": 0`, 1): "goroutines is 0 in results[0]",
		strings.Replace(whole, `"date": "2026`, `"date": "today`, 1):    "parsing time",
	} {
		_, err := Decode(strings.NewReader(text))
		assert.ErrorIs(t, err, ErrFormat, text)
		assert.ErrorContains(t, err, want)
	}
}

// Decode takes what it can write again, to the same bytes, or refuses.
func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, sampleReport().WriteJSON(&b))
	f.Add(b.Bytes())
	f.Add([]byte(`{"format": "hotcount-bench/1", "machine": {"cores": 1, "procs": 1}, "samples": 6}`))
	f.Add([]byte(`{"format": "hotcount-bench/2"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(bytes.NewReader(data))
		if err != nil {
			require.Nil(t, r)
			return
		}
		var first, second bytes.Buffer
		require.NoError(t, r.WriteJSON(&first))
		again, err := Decode(bytes.NewReader(first.Bytes()))
		require.NoError(t, err)
		require.NoError(t, again.WriteJSON(&second))
		require.Equal(t, first.String(), second.String())
		require.NoError(t, r.WriteBench(&first))
		require.NoError(t, r.WriteCSV(&first))
		r.Caveats()
	})
}

// benchLine is what benchstat takes for a result.
var benchLine = regexp.MustCompile(`^Benchmark[A-Z]\S*-\d+\t\d+(\t[\d.e+-]+ \S+)+$`)

func TestWriteBench(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sampleReport().WriteBench(&b))
	var lines []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "Benchmark") {
			assert.Regexp(t, benchLine, strings.TrimSuffix(line, "\n"))
			lines = append(lines, line)
		} else {
			assert.Regexp(t, `^[a-z]+: .+\n$`, line)
		}
	}
	assert.Len(t, lines, 4)
	assert.Equal(t, "BenchmarkAdd/impl=hotcount/stripes=4/pick=PerP/goroutines=2/reads=1/keys=zipf-2\t1\t5 ns/op\t2e+08 ops/s\t256 B/counter\t5 p50-ns\t9 p99-ns\n", lines[1])
	assert.Equal(t, "BenchmarkAdd/impl=atomic/goroutines=1/reads=0/keys=one-2\t1\t10 ns/op\t1e+08 ops/s\n", lines[3])
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sampleReport().WriteCSV(&b))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, [][]string{
		csvColumns,
		{"add", "hotcount", "4", "PerP", "2", "1", "zipf", "3", "1", "2e+08", "1.5e+08", "3e+08", "1000", "5", "7.5", "9", "30", "1e+06", "256", "2"},
		{"add", "atomic", "", "", "1", "0", "one", "1", "0", "1e+08", "1e+08", "1e+08", "", "", "", "", "", "", "", ""},
	}, rows)
}

func TestCaveats(t *testing.T) {
	assert.Equal(t, []string{
		"This machine has 4 cores: nothing here says what more of them would do.",
		"GOMAXPROCS was 2, not 4.",
		"The machine did other work, too: 25 % of all rounds were disturbed, and count only where there were too few others.",
		"Some results have fewer than 3 samples.",
	}, sampleReport().Caveats())
	r := sampleReport()
	r.Noise.Busy = 0.5
	assert.Contains(t, r.Caveats(), "The process got 50 % of the processor time that its goroutines could have used: they took turns more than they worked at once, so contention shows less than it is.")
}

// Quartiles against the definition: the value at a part q of the way through
// the sorted samples, by counting.
func TestSummarize(t *testing.T) {
	assert.Zero(t, Summarize(nil))
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 60; n++ {
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = math.Trunc(rng.NormFloat64() * 10)
		}
		before := slices.Clone(samples)
		s := Summarize(samples)
		assert.Equal(t, before, samples, "the samples stay")

		// Between any two neighbours put a hundred equal steps. Of the grid
		// that this makes the quartiles are members.
		slices.Sort(samples)
		grid := []float64{samples[0]}
		for i := 1; i < n; i++ {
			for step := 1; step <= 100; step++ {
				grid = append(grid, samples[i-1]+(samples[i]-samples[i-1])*float64(step)/100)
			}
		}
		last := len(grid) - 1
		assert.InDelta(t, grid[last/4], s.Low, 1e-9)
		assert.InDelta(t, grid[last/2], s.Median, 1e-9)
		assert.InDelta(t, grid[last*3/4], s.High, 1e-9)
	}
	assert.Equal(t, Summary{Median: 4, Low: 3, High: 5}, Summarize([]float64{5, 3, 4, 2, 6}))
	assert.Equal(t, 0.5, Summarize([]float64{5, 3, 4, 2, 6}).Spread())
	assert.Zero(t, Summary{}.Spread())
}

func TestSkew(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{0, 0}, 0},
		{[]float64{1}, 1},
		{[]float64{0.25, 0.25, 0.25, 0.25}, 1},
		{[]float64{0, 1, 0, 0}, 4},
	} {
		assert.Equal(t, c.want, (&Result{StripeShares: c.shares}).Skew())
	}
}

func TestCostIsTheInverseOfSpeed(t *testing.T) {
	r := &Result{OpsPerSecond: []float64{1e9, 5e8, 2.5e8}}
	assert.Equal(t, Summary{Median: 2, Low: 1 / 0.75, High: 1 / 0.375}, r.Cost())
	assert.Zero(t, (&Result{}).Cost())
}
