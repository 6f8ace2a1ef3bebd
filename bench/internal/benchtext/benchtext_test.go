package benchtext

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/bench"
)

func TestWriteTables(t *testing.T) {
	r := &bench.Report{
		Machine: bench.Machine{CPU: "Engine 9", Cores: 4, Procs: 4, Go: "go1.26.8", OS: "linux", Arch: "amd64"},
		Command: "hotbench run",
		Commit:  "0123abc",
		Date:    time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
		Samples: 3,
		Noise:   bench.Noise{Disturbed: 0.25, Busy: 0.9, Steal: -1},
		Results: []bench.Result{
			{
				Workload: "add", Impl: "hotcount", Stripes: 4, Pick: "PerP", Goroutines: 4, ReadPercent: 1, Keys: "zipf",
				OpsPerSecond: []float64{4e8, 2e8, 1e8}, Disturbed: 1,
				Latency:         &bench.Percentiles{Samples: 1000, Clock: 40, P50: 5, P90: 7.5, P99: 9, P999: 30, Max: 1e6},
				BytesPerCounter: 256, StripeShares: []float64{0.5, 0.5, 0, 0},
			},
			{Workload: "add", Impl: "atomic", Goroutines: 1, Keys: "one", OpsPerSecond: []float64{1e8, 1e8, 1e8}},
			{Workload: "group", Impl: "atomics", Goroutines: 1, Keys: "one", OpsPerSecond: []float64{5e7, 5e7, 5e7}},
		},
	}
	var b bytes.Buffer
	require.NoError(t, WriteTables(&b, r))
	assert.Equal(t, `Engine 9, 4 cores, GOMAXPROCS 4, go1.26.8, linux/amd64
2026-05-04T03:02:01Z; hotbench run; commit 0123abc

Medians of 3 rounds. spread is the distance of the quartiles in % of the median, * if disturbed
rounds are part of it; ns is wall time over the operations of all goroutines; p50 and p99 are of
single operations, in ns; skew is the busiest stripe over the mean of them.

add
  impl      stripes  pick  goroutines  reads  keys  M ops/s  spread    ns  p50  p99  B/counter  skew
  hotcount        4  PerP           4    1 %  zipf    200.0   75 %*   5.0    5    9        256  2.00
  atomic                            1    0 %  one     100.0    0 %   10.0

group
  impl     stripes  pick  goroutines  reads  keys  M ops/s  spread    ns  p50  p99  B/counter  skew
  atomics                          1    0 %  one      50.0    0 %   20.0

This machine has 4 cores: nothing here says what more of them would do.
The machine did other work, too: 25 % of all rounds were disturbed, and count only where there were too few others.
`, b.String())
}

func TestScreen(t *testing.T) {
	begin := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	show := func(terminal bool) string {
		var b bytes.Buffer
		s := &Screen{W: &b, Terminal: terminal}
		for i := range 61 { // a tenth of a second each
			s.Show(bench.Progress{Case: "add/impl=x", Done: i, Total: 55, Left: time.Minute}, begin.Add(time.Duration(i)*100*time.Millisecond))
		}
		s.Clear()
		s.Clear()
		return b.String()
	}
	assert.Equal(t, "0 of 55, 1m0s left: add/impl=x\n50 of 55, 1m0s left: add/impl=x\n", show(false))
	line := "\r\x1b[K"
	assert.Contains(t, show(true), line+"0 of 55, 1m0s left: add/impl=x"+line+"2 of 55, 1m0s left: add/impl=x"+line)
	assert.Regexp(t, line[:1]+`\x1b\[K1m0s left for disturbed rounds: add/impl=x\r\x1b\[K$`, show(true))
}
