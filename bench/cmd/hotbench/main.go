// Command hotbench measures hotcount beside the counters that people use today,
// and says what larger machines would make of it.
//
// Usage:
//
//	hotbench VERB [FLAG…] [ARGUMENT…]
//
// "hotbench help" lists the verbs, "hotbench VERB -h" a verb's flags. Results go
// to standard output, as JSON with -json; progress and errors go to standard
// error. The exit status is 0, 1 after a failure, or 2 if the command was given
// wrongly.
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
		Name:  "hotbench",
		Intro: "hotbench measures hotcount beside the counters that people use today, and says\nwhat larger machines would make of it.",
		Verbs: []cli.Verb{
			{Name: "report", Args: "FILE", Summary: "show what run -json wrote; - is standard input", Run: reportVerb},
			{Name: "run", Summary: "measure, in interleaved rounds that verify every count", Run: runVerb},
			{Name: "simulate", Summary: "simulate 1 to 192 cores, beside what is measured here", Run: simulateVerb},
		},
	}
}

// isTerminal reports whether somebody is likely to watch what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
