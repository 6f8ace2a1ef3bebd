package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const passing = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"chatter of a test that passes\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
`

const skipping = `{"Action":"output","Package":"p","Test":"TestB/sub","Output":"    b_test.go:3: no server\n"}
{"Action":"skip","Package":"p","Test":"TestB/sub"}
`

const failing = `{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:4: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
`

const ok = `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`

const bad = `{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`

const hung = `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: test timed out\n"}
` + bad

func TestReport(t *testing.T) {
	allow := []allowed{{"services", "p", "TestB/*"}}
	for _, tc := range []struct {
		name, in, run string
		err           string // "" when the run is good
		has, hasNot   string
	}{
		{"good", passing + ok, "x", "", "ok  \tp\t0.1s\n1 passed, 0 failed, 0 skipped\n", "chatter"},
		{"failed", passing + failing + bad, "x", "tests failed", "got 1, want 2", "chatter"},
		{"failed, and passed next", failing + strings.ReplaceAll(passing, "TestA", "TestC") + bad, "x", "tests failed", "got 1, want 2", "chatter"},
		{"passed, and failed next", strings.ReplaceAll(passing, "TestA", "TestC") + failing + bad, "x", "tests failed", "got 1, want 2", "chatter"},
		{"panicked", passing + hung, "x", "tests failed", "timed out", "chatter"},
		{"not built", `{"Action":"build-output","Output":"a.go:1: undefined: x\n"}` + "\n" + bad, "x", "tests failed", "undefined: x", "ok"},
		{"skip allowed", passing + skipping + ok, "services", "", "skip, allowed: p TestB/sub\n    b_test.go:3: no server\n", "chatter"},
		{"skip not allowed", passing + skipping + ok, "x", "1 tests were skipped", "SKIP, not allowed: p TestB/sub\n", "chatter"},
		{"nothing", ok, "x", "no test ran", "0 passed", "chatter"},
		{"the go command's own words", "go: no such tool\n" + passing + ok, "x", "", "go: no such tool\n", "chatter"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			err := report(strings.NewReader(tc.in), &out, tc.run, allow)
			switch {
			case err == nil && tc.err != "":
				t.Errorf("no error, want %q", tc.err)
			case err != nil && (tc.err == "" || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("error %q, want %q", err, tc.err)
			}
			if !strings.Contains(out.String(), tc.has) {
				t.Errorf("output lacks %q:\n%s", tc.has, &out)
			}
			if strings.Contains(out.String(), tc.hasNot) {
				t.Errorf("output holds %q:\n%s", tc.hasNot, &out)
			}
		})
	}
}

func TestReadAllowList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skips")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# RUN PACKAGE TEST reason\n\n* p TestB the board has no such chip\n")
	list, err := readAllowList(file)
	if err != nil || len(list) != 1 || !list[0].covers("arm64", "p", "TestB") || list[0].covers("arm64", "q", "TestB") {
		t.Errorf("list %v, error %v", list, err)
	}
	write("* p TestB\n")
	if _, err := readAllowList(file); err == nil {
		t.Error("a line without a reason was taken")
	}
}
