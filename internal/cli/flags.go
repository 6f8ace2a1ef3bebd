package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// A UsageError says that the command was given wrongly.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return Misused(fmt.Errorf(format, args...)) }

// Misused returns a UsageError that says what err does.
func Misused(err error) error { return UsageError{err} }

// Flags returns an empty flag set for the verb.
func (v Verb) Flags() *flag.FlagSet {
	fs := flag.NewFlagSet(v.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // Parse and Report write what there is to say
	return fs
}

// Parse parses flags that may stand before, between and after the arguments,
// which it returns. After -h it prints the usage text and returns flag.ErrHelp.
func (v Verb) Parse(fs *flag.FlagSet, s Streams, args []string) ([]string, error) {
	var rest []string
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			name := v.command + " " + v.Name
			usage := strings.TrimRight(name+" [FLAG…] "+v.Args, " ")
			fmt.Fprintf(s.Out, "%s: %s\n\nUsage: %s\n\n", name, v.Summary, usage)
			fs.SetOutput(s.Out)
			fs.PrintDefaults()
			return nil, err
		}
		if err != nil {
			return nil, Misused(err)
		}
		if used := len(args) - fs.NArg(); used > 0 && args[used-1] == "--" || fs.NArg() == 0 {
			return append(rest, fs.Args()...), nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// ParseNone is Parse for a verb without arguments.
func (v Verb) ParseNone(fs *flag.FlagSet, s Streams, args []string) error {
	rest, err := v.Parse(fs, s, args)
	if err == nil && len(rest) > 0 {
		err = Usagef("%q is one argument too many", rest[0])
	}
	return err
}
