package stripe

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// freshEnv makes this test binary measure one counter and print the result, for
// BenchmarkFreshProcesses to read.
const freshEnv = "HOTCOUNT_FRESH_PROCESS"

// freshAdds takes tens of milliseconds, which is long against the start of the
// second goroutine.
const freshAdds = 4_000_000

func TestMain(m *testing.M) {
	if os.Getenv(freshEnv) != "" {
		fmt.Println(freshAdd(freshAdds))
		return
	}
	os.Exit(m.Run())
}

// freshAdd returns the nanoseconds of an add to a hot counter, under a
// goroutine for each P.
func freshAdd(adds int) float64 {
	c := mustNew(Options{Pick: PerP})
	began := time.Now()
	parallel(adds, func(n int) {
		for range n {
			c.Inc()
		}
	})
	return float64(time.Since(began)) / float64(adds)
}

// BenchmarkFreshProcesses measures the hot counter in 50 processes, each with
// its own luck in where memory and goroutines come to lie, and reports the
// worst against the median.
func BenchmarkFreshProcesses(b *testing.B) {
	const processes = 50
	for b.Loop() {
		var took []float64
		for range processes {
			cmd := exec.CommandContext(b.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), freshEnv+"=1")
			out, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, ns)
		}
		slices.Sort(took)
		b.ReportMetric(took[processes/2], "median-ns")
		b.ReportMetric(took[processes-1], "worst-ns")
		b.ReportMetric(took[processes-1]/took[processes/2], "worst/median")
	}
}
