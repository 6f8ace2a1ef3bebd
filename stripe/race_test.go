//go:build race

package stripe

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// misuseEnv makes this test binary misuse a Local, for another one to watch.
const misuseEnv = "HOTCOUNT_MISUSE_LOCAL"

// Two goroutines that use one Local at once are reported by the race detector.
func TestLocalMisuseIsCaught(t *testing.T) {
	if os.Getenv(misuseEnv) != "" {
		misuseLocal()
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLocalMisuseIsCaught$")
	cmd.Env = append(os.Environ(), misuseEnv+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "the race detector fails the process")
	assert.Contains(t, string(out), "DATA RACE")
	assert.Contains(t, string(out), "(*Local).")
}

func misuseLocal() {
	l := new(Counter).Local(1000)
	done := make(chan struct{})
	go func() {
		l.Inc()
		close(done)
	}()
	l.Inc()
	<-done
}
