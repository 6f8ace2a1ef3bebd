// Command hotcount counts access logs, shows what package hotcount does, and looks
// after what it has kept.
//
// Usage:
//
//	hotcount VERB [FLAG…] [ARGUMENT…]
//
// "hotcount help" lists the verbs, "hotcount VERB -h" a verb's flags. Results go
// to standard output, as JSON with -json; progress and errors go to standard
// error. The exit status is 0, 1 after a failure, or 2 if the command was given
// wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit statuses.
const (
	exitOK = iota
	exitFailure
	exitUsage
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a verb reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// A verb is one thing that the command does.
type verb struct {
	name    string
	args    string // what follows the flags, for the usage text
	summary string
	run     func(ctx context.Context, s streams, v verb, args []string) error
}

func verbs() []verb {
	return []verb{
		{"bench", "", "measure hotcount beside the counters that people use today", benchVerb},
		{"demo", "", "run a small web service that counts with hotcount, under load", demoVerb},
		{"export", "DIR [SINK]", "send what a directory of snapshots holds to a store", exportVerb},
		{"inspect", "FILE|DIR [FILE]", "show what snapshots hold, or what differs between two", inspectVerb},
		{"reconcile", "DIR CSV", "compare a directory's totals with true ones, in CSV lines of series,total", reconcileVerb},
		{"replay", "FILE…", "count access logs; - is standard input", replayVerb},
		{"size", "", "say how many stripes a peak needs, and what they cost", sizeVerb},
		{"totals", "[SINK|DIR [PATTERN]]", "print totals over all runs and writers", totalsVerb},
		{"verify", "DIR", "say whether snapshots are whole and what a start would do", verifyVerb},
		{"version", "", "print the version of this program", versionVerb},
	}
}

// run runs the verb that args name and returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	if len(args) == 0 {
		writeUsage(s.err)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 {
			writeUsage(s.out)
			return exitOK
		}
		args = []string{args[1], "-h"} // help VERB
	case "-version", "--version":
		args[0] = "version"
	}
	for _, v := range verbs() {
		if v.name == args[0] {
			return v.status(s, v.run(ctx, s, v, args[1:]))
		}
	}
	fmt.Fprintf(s.err, "hotcount: there is no verb %q; see hotcount help\n", args[0])
	return exitUsage
}

// status reports err and returns the exit status that goes with it.
func (v verb) status(s streams, err error) int {
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "hotcount %s: %v; see hotcount %s -h\n", v.name, err, v.name)
		return exitUsage
	}
	for line := range strings.Lines(err.Error()) { // one a joined error
		fmt.Fprintf(s.err, "hotcount %s: %s\n", v.name, strings.TrimSuffix(line, "\n"))
	}
	return exitFailure
}

func writeUsage(w io.Writer) {
	fmt.Fprint(w, "hotcount counts access logs, shows what package hotcount does, and looks after\nwhat it has kept.\n\nUsage:\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(w, "  hotcount %-28s  %s\n", v.name+" "+v.args, v.summary)
	}
	fmt.Fprint(w, "\n\"hotcount VERB -h\" lists the flags of a verb.\n")
}
