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
//
// A sink is a directory, unless the program is built with -tags hotcount_stores: then
// it has the clients of Redis, PostgreSQL and NATS, which take longer to fetch and to
// compile than all the rest.
package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/hotcount/hotcount/internal/cli"
)

func main() { program().Main() }

func program() cli.Command {
	return cli.Command{
		Name:  "hotcount",
		Intro: "hotcount counts access logs, shows what package hotcount does, and looks after\nwhat it has kept.",
		Verbs: []cli.Verb{
			{Name: "demo", Summary: "run a small web service that counts with hotcount, under load", Run: demoVerb},
			{Name: "export", Args: "DIR [SINK]", Summary: "send what a directory of snapshots holds to a store", Run: exportVerb},
			{Name: "inspect", Args: "FILE|DIR [FILE]", Summary: "show what snapshots hold, or what differs between two", Run: inspectVerb},
			{Name: "reconcile", Args: "DIR CSV", Summary: "compare a directory's totals with true ones, in CSV lines of series,total", Run: reconcileVerb},
			{Name: "replay", Args: "FILE…", Summary: "count access logs; - is standard input", Run: replayVerb},
			{Name: "size", Summary: "say how many stripes a peak needs, and what they cost", Run: sizeVerb},
			{Name: "totals", Args: "[SINK|DIR [PATTERN]]", Summary: "print totals over all runs and writers", Run: totalsVerb},
			{Name: "verify", Args: "DIR", Summary: "say whether snapshots are whole and what a start would do", Run: verifyVerb},
			{Name: "version", Summary: "print the version of this program", Run: versionVerb},
		},
	}
}

// isTerminal reports whether somebody is likely to watch what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
