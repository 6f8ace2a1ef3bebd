package main

import (
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestBlocks(t *testing.T) {
	got, err := blocks("# Title\n```sh\nls\nls -l\n```\n- item\n  ```go compile\n  x()\n    y()\n  ```\n")
	want := []block{
		{line: 3, lang: "sh", text: "ls\nls -l\n"},
		{line: 8, lang: "go", option: "compile", text: "x()\n  y()\n"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("blocks %v, error %v; want %v", got, err, want)
	}
	if _, err := blocks("text\n```sh\nls\n"); err == nil {
		t.Error("a block without an end was taken")
	}
}

func TestProgram(t *testing.T) {
	const position = "//line README.md:7\n"
	index := func() (map[string][]string, error) {
		return map[string][]string{"fmt": {"fmt"}, "rand": {"crypto/rand", "math/rand/v2"}}, nil
	}
	for _, tc := range []struct{ name, in, out string }{
		{"program", "// A comment.\npackage main\n\nfunc main() {}\n", "@// A comment.\npackage main\n\nfunc main() {}\n"},
		{"declarations", "type t struct{ b fmt.Stringer }\n", "package main\nimport \"fmt\"\n@type t struct{ b fmt.Stringer }\n\nfunc main() {}\n"},
		{"imports kept", "import \"math/rand/v2\"\n\nvar n = rand.Int()\n", "package main\n@import \"math/rand/v2\"\n\nvar n = rand.Int()\n\nfunc main() {}\n"},
		{"body", "s := \"x\"\nfmt.Println(s)\n", "package main\nimport \"fmt\"\nfunc main() {\n@s := \"x\"\nfmt.Println(s)\n}\n"},
		{"a variable is no package", "var fmt v\nfmt.Do()\n", "package main\nfunc main() {\n@var fmt v\nfmt.Do()\n}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := strings.Replace(tc.out, "@", position, 1)
			if got, err := program(tc.in, position, index); err != nil || got != want {
				t.Errorf("error %v, program\n%s\nwant\n%s", err, got, want)
			}
		})
	}
	for name, in := range map[string]string{"may be any of": "rand.Int()\n", "neither a program": "if {\n"} {
		if _, err := program(in, position, index); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

// TestCheck runs whole READMEs: one where all holds, and one block of each kind that
// must fail.
func TestCheck(t *testing.T) {
	const good = "```sh\necho one\n```\n```output\none\n```\n" +
		"```go\nfmt.Println(\"two\")\n```\n```output\ntwo\n```\n" +
		"```go compile\npanic(\"three\")\n```\n```text\nfour\n```\n"
	l, err := net.Listen("tcp", "127.0.0.1:0") // for a free port
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	t.Setenv("READMECHECK_THERE", "1")
	for _, tc := range []struct {
		name, in string
		failed   int
	}{
		{"good", good, 0},
		{"command fails", "```sh\nfalse | cat\n```\n", 1},
		{"command hangs", "```sh\nsleep 60 | cat\n```\n", 1},
		{"output drifts", "```sh\necho one\n```\n```output\ntwo\n```\n", 1},
		{"code does not compile", "```go\nx := 1\n```\n", 1},
		{"code panics", "```go\npanic(1)\n```\n", 1},
		{"variable absent", "```go needs=READMECHECK_ABSENT\npanic(1)\n```\n", 0},
		{"variable there", "```go needs=READMECHECK_THERE\npanic(1)\n```\n", 1},
		{"server answers", "```go serve=http://" + address + "\nhttp.ListenAndServe(\"" + address + "\", http.FileServer(http.Dir(\".\")))\n```\n", 0},
		{"server denies", "```go serve=http://" + address + "\nhttp.ListenAndServe(\"" + address + "\", nil)\n```\n", 1},
		{"no server", "```go serve=http://" + address + "\nfmt.Println()\n```\n", 1},
		{"option unknown", "```go build\n```\n", 1},
		{"language unknown", "```console\nls\n```\n", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("go.mod", "module example.test/m\n\ngo 1.26.0\n")
			write("m.go", "package m\n")
			write("README.md", tc.in)
			limit := time.Minute
			if tc.name == "command hangs" {
				limit = 100 * time.Millisecond
			}
			if failed, err := check("README.md", limit, false); err != nil || failed != tc.failed {
				t.Errorf("%d blocks failed, error %v; want %d", failed, err, tc.failed)
			}
			if failed, err := check("README.md", limit, true); err != nil || !strings.Contains(tc.in, "```go") && failed > 0 {
				t.Errorf("%d go blocks failed, error %v; there are none", failed, err)
			}
		})
	}
}
