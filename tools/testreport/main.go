// Command testreport reads the output of `go test -json` from standard input and
// prints what plain `go test` prints: a line for each package, and the whole output
// of each test that failed. It then counts the tests and fails on
//   - a failed test or build,
//   - a skipped test that the allow-list does not name, since a skip nobody sees is
//     a test nobody runs,
//   - a run in which no test passed.
//
// The allow-list holds a line for each skip that is meant to be:
//
//	RUN PACKAGE TEST reason in words
//
// RUN is the name given with -run. RUN and TEST are path.Match patterns, PACKAGE is
// an import path, and a lone * matches anything. Lines that start with # are ignored.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

func main() {
	allowFile := flag.String("allow", "", "read the allow-list from `FILE`")
	run := flag.String("run", "test", "the `NAME` of this run in the allow-list")
	flag.Parse()

	allow, err := readAllowList(*allowFile)
	if err == nil {
		err = report(os.Stdin, os.Stdout, *run, allow)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

// allowed is one line of the allow-list.
type allowed struct{ run, pkg, test string }

func readAllowList(file string) ([]allowed, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []allowed
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: want RUN PACKAGE TEST reason", file, n)
		}
		list = append(list, allowed{fields[0], fields[1], fields[2]})
	}
	return list, nil
}

func (a allowed) covers(run, pkg, test string) bool {
	return match(a.run, run) && (a.pkg == "*" || a.pkg == pkg) && match(a.test, test)
}

func match(pattern, s string) bool {
	ok, _ := path.Match(pattern, s)
	return ok || pattern == "*"
}

// event is what `go test -json` prints, a line each; see `go doc test2json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string

	failed bool // it is the output of a test that failed
}

// pkgLog holds what a package under test has printed, less the tests that passed or
// were skipped. With -cpu and -count a test runs, and ends, more than once.
type pkgLog struct{ output []event }

// keep makes the output of the test that has just failed stay, however it ends next.
func (log *pkgLog) keep(test string) {
	for i := range log.output {
		if log.output[i].Test == test {
			log.output[i].failed = true
		}
	}
}

// drop forgets the output of the test that has just ended well.
func (log *pkgLog) drop(test string) {
	log.output = slices.DeleteFunc(log.output, func(ev event) bool { return ev.Test == test && !ev.failed })
}

// tally counts tests by how they ended.
type tally struct{ passed, failed, skipped, disallowed, broken int }

func report(in io.Reader, out io.Writer, run string, allow []allowed) error {
	logs := map[string]*pkgLog{}
	var n tally
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			var ev event
			if json.Unmarshal(line, &ev) != nil {
				_, _ = out.Write(line) // the go command's own words
			} else {
				handle(ev, logs, &n, out, run, allow)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", n.passed, n.failed, n.skipped)
	return n.verdict()
}

func (n tally) verdict() error {
	switch {
	case n.failed+n.broken > 0:
		return errors.New("tests failed")
	case n.disallowed > 0:
		return fmt.Errorf("%d tests were skipped that the allow-list does not name", n.disallowed)
	case n.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

func handle(ev event, logs map[string]*pkgLog, n *tally, out io.Writer, run string, allow []allowed) {
	log := logs[ev.Package]
	if log == nil {
		log = &pkgLog{}
		logs[ev.Package] = log
	}
	switch {
	case ev.Action == "build-output":
		fmt.Fprint(out, ev.Output)
	case ev.Action == "output":
		log.output = append(log.output, ev)
	case ev.Test == "" && (ev.Action == "pass" || ev.Action == "skip"):
		log.printSummary(out)
		delete(logs, ev.Package)
	case ev.Test == "" && ev.Action == "fail":
		n.broken++
		log.printFailure(out)
		delete(logs, ev.Package)
	case ev.Action == "pass":
		n.passed++
		log.drop(ev.Test)
	case ev.Action == "fail":
		n.failed++
		log.keep(ev.Test)
	case ev.Action == "skip":
		n.skipped++
		n.disallowed += log.printSkip(out, ev, run, allow)
		log.drop(ev.Test)
	}
}

// printSummary prints the closing line of a package that passed.
func (log *pkgLog) printSummary(out io.Writer) {
	for _, ev := range log.output {
		if ev.Test == "" && (strings.HasPrefix(ev.Output, "ok ") || strings.HasPrefix(ev.Output, "? ")) {
			fmt.Fprint(out, ev.Output)
		}
	}
}

// printFailure prints all that is left of what a failed package said.
func (log *pkgLog) printFailure(out io.Writer) {
	for _, ev := range log.output {
		fmt.Fprint(out, ev.Output)
	}
}

// printSkip prints a skip with its reason and returns 1 if it is not allowed.
func (log *pkgLog) printSkip(out io.Writer, skip event, run string, allow []allowed) int {
	verdict, count := "SKIP, not allowed", 1
	for _, a := range allow {
		if a.covers(run, skip.Package, skip.Test) {
			verdict, count = "skip, allowed", 0
		}
	}
	fmt.Fprintf(out, "%s: %s %s\n", verdict, skip.Package, skip.Test)
	for _, ev := range log.output {
		if ev.Test == skip.Test && !strings.HasPrefix(ev.Output, "===") {
			fmt.Fprint(out, ev.Output)
		}
	}
	return count
}
