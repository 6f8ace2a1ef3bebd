// Command readmecheck runs what a README shows, so that it cannot drift from the code.
//
//	readmecheck [-timeout 5m] [-go] FILE.md…
//
// It works from the repository's root, on each fenced block by its language:
//
//	sh      runs under bash -euo pipefail from the root and must exit 0
//	go      is compiled against this tree, then run in an empty directory, and must
//	        exit 0. "go compile" is only compiled, and so is "go needs=VARIABLE" where
//	        the environment lacks the variable. "go serve=URL" runs until the URL
//	        answers and is then interrupted
//	output  must equal what the block before it printed on standard output
//	text    is not checked, nor are json and mermaid
//
// Any other language is an error: a command fenced as console would be shown and
// never run. A go block without a package clause is a list of declarations or, failing
// that, the body of main. If it imports nothing, its imports are found by package name
// among the standard library and this workspace.
//
// With -go it checks go blocks only, and in whatever module it is called from: also
// one outside the tree that requires what the blocks import.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func main() {
	timeout := flag.Duration("timeout", 5*time.Minute, "`LIMIT` of time for each block")
	only := flag.Bool("go", false, "check go blocks only")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	failed := 0
	for _, file := range flag.Args() {
		n, err := check(file, *timeout, *only)
		if err != nil {
			fmt.Fprintln(os.Stderr, "readmecheck:", err)
			os.Exit(1)
		}
		failed += n
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "readmecheck: %d blocks failed\n", failed)
		os.Exit(1)
	}
}

// check runs each block of file and returns how many failed.
func check(file string, timeout time.Duration, only bool) (failed int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	list, err := blocks(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	var stdout string
	for _, b := range list {
		if only && b.lang != "go" {
			continue
		}
		start := time.Now()
		switch b.lang {
		case "text", "json", "mermaid":
			continue
		case "sh":
			stdout, err = runShell(b, timeout)
		case "go":
			stdout, err = runGo(file, b, timeout)
		case "output":
			err = compare(stdout, b.text)
		default:
			err = errors.New("unknown language: use sh, go, output, text, json or mermaid")
		}
		verdict := "ok  "
		if err != nil {
			verdict = "FAIL"
			failed++
		}
		fmt.Printf("%s %s:%d %s %.1fs\n", verdict, file, b.line, b.lang, time.Since(start).Seconds())
		if err != nil {
			fmt.Println(strings.TrimRight(b.text, "\n"))
			fmt.Println(err)
		}
	}
	return failed, nil
}

func compare(got, want string) error {
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		return fmt.Errorf("the block before it printed\n%s", got)
	}
	return nil
}

func runShell(b block, timeout time.Duration) (stdout string, err error) {
	return output(timeout, ".", "bash", "-euo", "pipefail", "-c", b.text)
}

// command returns a command that dies with all its children when ctx is done.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// output runs a command in dir and returns its standard output. The error holds all
// that the command printed. At the limit the command dies with all its children.
func output(timeout time.Duration, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := command(ctx, dir, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("still running after %s", timeout)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s%s", err, &stdout, &stderr)
	}
	return stdout.String(), err
}
