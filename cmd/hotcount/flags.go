package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A usageError says that the command was given wrongly.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// flags returns an empty flag set for a verb.
func (v verb) flags() *flag.FlagSet {
	fs := flag.NewFlagSet(v.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // parse and status write what there is to say
	return fs
}

// parse parses flags that may stand before, between and after the arguments,
// which it returns. After -h it prints the usage text and returns flag.ErrHelp.
func (v verb) parse(fs *flag.FlagSet, s streams, args []string) ([]string, error) {
	var rest []string
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			usage := strings.TrimRight("hotcount "+v.name+" [FLAG…] "+v.args, " ")
			fmt.Fprintf(s.out, "hotcount %s: %s\n\nUsage: %s\n\n", v.name, v.summary, usage)
			fs.SetOutput(s.out)
			fs.PrintDefaults()
			return nil, err
		}
		if err != nil {
			return nil, usageError{err}
		}
		if used := len(args) - fs.NArg(); used > 0 && args[used-1] == "--" || fs.NArg() == 0 {
			return append(rest, fs.Args()...), nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// parseNone is parse for a verb without arguments.
func (v verb) parseNone(fs *flag.FlagSet, s streams, args []string) error {
	rest, err := v.parse(fs, s, args)
	if err == nil && len(rest) > 0 {
		err = usagef("%q is one argument too many", rest[0])
	}
	return err
}

// writeJSON writes v for programs.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// isTerminal reports whether somebody is likely to watch what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
