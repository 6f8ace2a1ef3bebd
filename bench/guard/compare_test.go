//go:build hotcount_guard && unix

// These tests run git and the compiler, so they are a step of CI and no part of
// "go test work".

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A repository has a package with benchmarks that state how long they took, so
// that no test depends on how long anything takes.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	// What is around must not reach in, nor the temporary worktrees out.
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	r := &repository{t, t.TempDir()}
	r.git("init", "-q")
	r.write("go.mod", "module example.com/m\n\ngo 1.26.0\n")
	return r
}

func (r *repository) git(args ...string) string {
	args = append([]string{"-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, string(out))
	return string(out)
}

func (r *repository) write(name, text string) {
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o666))
}

// benchmarks writes a test file with sub-benchmarks that take so many ns, each of
// the numbers in turn.
func (r *repository) benchmarks(pkg string, ns map[string]string) {
	var b strings.Builder
	b.WriteString("package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc BenchmarkAdd(b *testing.B) {\n")
	for name, list := range ns {
		// The file tells the rounds apart; it is beside the test, and not in git.
		fmt.Fprintf(&b, "\tb.Run(%q, func(b *testing.B) {\n\t\tlist := []float64{%s}\n\t\tdata, _ := os.ReadFile(%q)\n"+
			"\t\tos.WriteFile(%q, append(data, 'x'), 0o666)\n\t\tb.ReportMetric(list[len(data)%%len(list)], \"ns/op\")\n\t})\n",
			"impl="+name, list, name+".round", name+".round")
	}
	b.WriteString("}\n")
	r.write(filepath.Join(pkg, "p.go"), "package p\n")
	r.write(filepath.Join(pkg, "p_test.go"), b.String())
}

func (r *repository) commit(tag string) {
	r.write(".gitignore", "*.round\n")
	r.git("add", ".")
	r.git("commit", "-q", "-m", "x")
	r.git("tag", tag)
}

// guard runs the command in a directory of the repository, and checks that it
// leaves nothing behind.
func (r *repository) guard(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(ctx, r.dir, append([]string{"-benchtime", "1x", "-rounds", "6"}, args...), &out, &errs)
	assert.Len(r.t, strings.Split(strings.TrimSpace(r.git("worktree", "list")), "\n"), 1, "the worktree is gone")
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(r.t, err)
	assert.Empty(r.t, left)
	return status, out.String(), errs.String()
}

func TestVerdicts(t *testing.T) {
	r := newRepository(t)
	r.benchmarks("p", map[string]string{"slow": "100, 101", "fast": "100, 101", "same": "100, 101", "noisy": "50, 150", "gone": "1"})
	r.benchmarks("old", map[string]string{"x": "1"})
	r.commit("v0.1.0")
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "old")))
	r.benchmarks("p", map[string]string{"slow": "120, 121", "fast": "80, 81", "same": "103, 104", "noisy": "80, 180", "fresh": "1"})
	r.write("empty/e.go", "package e\n")

	status, stdout, stderr := r.guard(t.Context(), "-pkg", "p,old,empty,absent")
	assert.Equal(t, exitFailure, status, stderr)
	for name, want := range map[string]string{
		"slow": `1\.199 +SLOWER`, "fast": `0\.801 +faster`, "same": `1\.030 +same`,
		"noisy": `1\.300 +unclear`, "gone": `removed`, "fresh": `new`,
	} {
		assert.Regexp(t, `(?m)^p +Add/impl=`+name+`(-\d+)? .* `+want+`$`, stdout)
	}
	assert.Contains(t, stdout, "base is v0.1.0 (")
	assert.Contains(t, stdout, "\n1 SLOWER, 1 faster, 1 same, 1 unclear, 1 removed, 1 new\n")
	assert.Contains(t, stderr, "old is left out: it is not in the working tree\n")
	assert.Contains(t, stderr, "empty is left out: it is not in the base\n")
	assert.Contains(t, stderr, "absent is left out: it is not in the base\n")

	status, stdout, stderr = r.guard(t.Context(), "-pkg", "p", "-tolerance", "25", "-base", "HEAD", "-bench", "Add/impl=(slow|same)$")
	assert.Equal(t, exitOK, status, stderr)
	assert.Contains(t, stdout, "base is HEAD (")
	assert.Contains(t, stdout, "\n2 same\n")
}

// What looks slower once, and not again, is not slower.
func TestSecondLook(t *testing.T) {
	r := newRepository(t)
	r.benchmarks("p", map[string]string{"once": "100"})
	r.commit("v0.1.0")
	r.benchmarks("p", map[string]string{"once": "120, 120, 120, 120, 120, 120, 100, 100, 100, 100, 100, 100"})
	status, stdout, stderr := r.guard(t.Context(), "-pkg", "p")
	assert.Equal(t, exitOK, status, stderr)
	assert.Contains(t, stdout, "\n1 unclear\n")
}

func TestFailures(t *testing.T) {
	r := newRepository(t)
	r.benchmarks("p", map[string]string{"x": "1"})
	r.commit("release") // no version
	status, _, stderr := r.guard(t.Context(), "-pkg", "p")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "no tag to compare with")
	status, _, stderr = r.guard(t.Context(), "-base", "nonsense")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, `no commit "nonsense"`)
	status, _, stderr = r.guard(t.Context(), "-base", "HEAD", "-pkg", "absent")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "both trees have none of the packages")
	status, _, stderr = r.guard(t.Context(), "-base", "HEAD", "-pkg", "p", "-bench", "Nonsense")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "no benchmark matches")
	r.write("p/p_test.go", "package p\n\nsyntax error\n")
	status, _, stderr = r.guard(t.Context(), "-base", "HEAD", "-pkg", "p")
	assert.Equal(t, exitFailure, status)
	assert.Contains(t, stderr, "p_test.go:3")
}

// An interrupt while benchmarks run ends them, and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	r := newRepository(t)
	ready := filepath.Join(t.TempDir(), "ready")
	r.write("p/p_test.go", fmt.Sprintf("package p\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc BenchmarkHang(b *testing.B) {\n"+
		"\tf, err := os.OpenFile(%q, os.O_WRONLY, 0)\n\tif err != nil {\n\t\tb.Fatal(err)\n\t}\n\tf.Close()\n\t<-time.After(time.Hour)\n}\n", ready))
	r.commit("v0.1.0")
	require.NoError(t, unix.Mkfifo(ready, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		// Opening waits for the benchmark to open the other end.
		if f, err := os.Open(ready); err == nil {
			f.Close()
		}
	}()
	status, stdout, stderr := r.guard(ctx, "-pkg", "p")
	assert.Equal(t, exitFailure, status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "guard: interrupted\n")
}
