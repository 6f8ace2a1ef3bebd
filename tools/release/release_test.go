package main

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newTree makes a workspace of a root and each module that there has to be, which
// require the root, and loads it.
func newTree(t *testing.T) *tree {
	t.Helper()
	top := t.TempDir()
	var uses strings.Builder
	for _, dir := range append([]string{".", "cmd"}, unreleased...) {
		uses.WriteString("use ./" + dir + "\n")
		text := "module example.test/m\n\ngo 1.26.0\n"
		if dir != "." {
			text = "module example.test/m/" + dir + "\n\ngo 1.26.0\n\nrequire example.test/m v0.0.0 // ours\n"
			put(t, top, dir+"/main.go", "package main\n\nimport _ \"example.test/m\"\n\nfunc main() {}\n")
		}
		put(t, top, dir+"/go.mod", text)
		put(t, top, dir+"/go.sum", "")
	}
	put(t, top, "m.go", "package m\n")
	put(t, top, "LICENSE", "as you like\n")
	put(t, top, "go.work", "go 1.26.0\n\n"+uses.String()+"\nreplace example.test/m v0.0.0 => ./\n")
	if out, err := exec.Command("git", "-C", top, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	tr, err := load(filepath.Join(top, "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func put(t *testing.T, top, name, text string) {
	t.Helper()
	name = filepath.Join(top, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// After a bump every module requires the version, the workspace builds, all is tidy,
// and a second bump changes nothing.
func TestBump(t *testing.T) {
	tr := newTree(t)
	if err := bump(tr, "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	for _, m := range tr.modules {
		if text := read(t, m.file); m.dir != "." && !strings.Contains(text, "require example.test/m v0.2.0 // ours\n") {
			t.Errorf("%s is\n%s", m.file, text)
		}
	}
	cmd := exec.Command("go", "build", "work")
	cmd.Dir = tr.top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}
	if err := tidy(tr, true); err != nil {
		t.Error(err)
	}
	before := read(t, tr.top, "go.work")
	if err := bump(tr, "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	if after := read(t, tr.top, "go.work"); after != before {
		t.Errorf("go.work is\n%s\nand was\n%s", after, before)
	}
	for _, bad := range []string{"", "0.2.0", "v0.2", "v0.2.0+x", "v2.0.0"} {
		if err := bump(tr, bad); err == nil {
			t.Errorf("%q was taken for a version", bad)
		}
	}
}

// What is not tidy is shown by -diff and mended without it.
func TestTidy(t *testing.T) {
	tr := newTree(t)
	put(t, tr.top, "cmd/go.mod", "module example.test/m/cmd\n\ngo 1.26.0\n")
	err := tidy(tr, true)
	if err == nil || !strings.Contains(err.Error(), "\n+require example.test/m ") {
		t.Errorf("a require is missing, and the error is %v", err)
	}
	for range 2 {
		if err := tidy(tr, false); err != nil {
			t.Fatal(err)
		}
	}
	if text := read(t, tr.top, "cmd/go.mod"); !strings.HasSuffix(text, "\nrequire example.test/m v0.0.0\n") {
		t.Errorf("cmd/go.mod is\n%s", text)
	}
	if err := tidy(tr, true); err != nil {
		t.Error(err)
	}
}

// A packed module has its own files and a license, requires the others at its own
// version, and leaves the tree as it was.
func TestPack(t *testing.T) {
	tr, dir := newTree(t), t.TempDir()
	before := read(t, tr.top, "cmd/go.mod")
	if err := pack(tr, "v0.3.0-test", dir); err != nil {
		t.Fatal(err)
	}
	if read(t, tr.top, "cmd/go.mod") != before {
		t.Error("pack has changed the tree")
	}
	for base, want := range map[string]string{
		"example.test/m":     "LICENSE go.mod go.sum go.work m.go",
		"example.test/m/cmd": "LICENSE go.mod go.sum main.go",
	} {
		z, err := zip.OpenReader(filepath.Join(dir, base, "@v", "v0.3.0-test.zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		names := make(map[string]bool)
		for _, f := range z.File {
			name := strings.TrimPrefix(f.Name, base+"@v0.3.0-test/")
			names[name] = true
			if name != "go.mod" {
				continue
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil || string(data) != read(t, dir, base, "@v", "v0.3.0-test.mod") {
				t.Errorf("%s has two go.mod, error %v", base, err)
			}
			if base != "example.test/m" && !strings.Contains(string(data), "example.test/m v0.3.0-test") {
				t.Errorf("%s requires\n%s", base, data)
			}
		}
		for _, name := range strings.Fields(want) {
			if !names[name] {
				t.Errorf("%s lacks %s", base, name)
			}
			delete(names, name)
		}
		if len(names) > 0 {
			t.Errorf("%s has %v, too", base, names)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "example.test/m/bench")); err == nil {
		t.Error("a module that is not to be released was packed")
	}
}

// The record of exported names is sorted and complete, and holds nothing of commands,
// of internal packages or of packages that are gone. What changed is shown by -diff.
func TestAPI(t *testing.T) {
	tr := newTree(t)
	put(t, tr.top, "m.go", `package m

import "io"

const Answer = 42

var ErrNo error

type Key struct {
	Name   string
	hidden int
}

func (Key) Len() int { return 0 }

func (*Key) Reset(r io.Reader) {}

func (Key) secret() {}

type Sink interface{ Write(k Key) error }

type Step int

func New(n int, more ...Key) (*Key, error) { return nil, nil }
`)
	put(t, tr.top, "internal/x/x.go", "package x\n\nfunc X() {}\n")
	if err := api(tr, false); err != nil {
		t.Fatal(err)
	}
	want := `const Answer untyped int = 42
func New(n int, more ...Key) (*Key, error)
method (*Key) Reset(r io.Reader)
method (Key) Len() int
type Key struct, Name string
type Key struct, comparable
type Sink interface, 1 methods
type Sink interface, Write(k Key) error
type Step int
var ErrNo error
`
	if got := read(t, tr.top, "api/m.txt"); got != want {
		t.Errorf("the record is\n%s", got)
	}
	if names, err := filepath.Glob(filepath.Join(tr.top, "api/*")); err != nil || len(names) != 1 {
		t.Errorf("the records are %v, %v", names, err)
	}
	if err := api(tr, true); err != nil {
		t.Error(err)
	}
	put(t, tr.top, "more/more.go", "package more\n\nfunc More() {}\n")
	if err := api(tr, true); err == nil || !strings.Contains(err.Error(), "\n+func More()") {
		t.Errorf("a package is new, and the error is %v", err)
	}
	put(t, tr.top, "api/gone.txt", "func Gone()\n")
	if err := api(tr, true); err == nil || !strings.Contains(err.Error(), "gone.txt: there is no such package") {
		t.Errorf("a package is gone, and the error is %v", err)
	}
	if err := api(tr, false); err != nil {
		t.Fatal(err)
	}
	if err := api(tr, true); err != nil {
		t.Error(err)
	}
}
