//go:build !hotcount_model

package stripe

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/internal/servertest"
)

// goTool runs the go command and returns what it says. Without one, or without
// the sources, there is nothing to check, which only CI takes as a failure.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		servertest.Absent(t, "go command", err)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	// The check is of this machine's build, whatever this test was built for.
	cmd.Env = append(os.Environ(), "GOARCH=", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// The model check needs a build of its own; here it runs its small scenarios.
func TestModelCheckPasses(t *testing.T) {
	out := goTool(t, "test", "-short", "-tags=hotcount_model", "-run=^TestModel", "-v", ".")
	for _, name := range []string{"TestModelCounter", "TestModelFindsMutants", "TestModelMax"} {
		assert.Contains(t, out, "--- PASS: "+name)
	}
}

// What a caller's loop holds is inlined into it: for an add to a Local that is
// the whole add, for the others it is all but one call.
func TestInlined(t *testing.T) {
	for _, tags := range []string{"", "hotcount_portable"} {
		out := goTool(t, "build", "-gcflags=-m", "-tags="+tags, ".")
		for _, f := range []string{
			"(*Counter).Inc", "(*Local).Add", "(*Local).Inc", "(*Monotone).Inc", "(*Monotone).Add",
			"(*Max).Observe", "(*Min).Observe", "(*table).at", "stackHash", "look",
		} {
			assert.Regexp(t, `(?m)can inline `+regexp.QuoteMeta(f)+`$`, out)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	var (
		cold  Counter
		hot   = mustNew(Options{Pick: PerP})
		local = hot.Local(3)
		group = NewGroup(4)
		sums  = make([]int64, 0, 4)
		total = NewTotal(hot, time.Hour)
		mono  Monotone
		high  Max
		low   Min
		v     int64
	)
	for name, f := range map[string]func(){
		"cold":     func() { cold.Inc(); cold.Add(2); v += cold.Value(); v += cold.Drain() },
		"hot":      func() { hot.Inc(); hot.Add(2); v += hot.Value(); v += hot.Drain() },
		"local":    func() { local.Inc(); local.Add(5); local.Flush() },
		"group":    func() { group.Add(1, 2, 3, 4); v += group.Value(1); group.Values(sums); group.Drain(sums) },
		"total":    func() { n, _ := total.Value(); v += n },
		"monotone": func() { mono.Inc(); mono.Add(3); v += mono.Value() },
		"extremes": func() { v++; high.Observe(v); low.Observe(-v); high.Value(); low.Drain() },
	} {
		assert.Zero(t, testing.AllocsPerRun(1000, f), name)
	}
	assert.False(t, cold.Stats().Hot)
}
