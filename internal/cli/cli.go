// Package cli is what the commands of this repository have in common: verbs with
// flags of their own, errors of usage, and exit statuses.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"
)

// The exit statuses.
const (
	ExitOK = iota
	ExitFailure
	ExitUsage
)

// Streams are what a verb reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// A Command is a program with verbs.
type Command struct {
	Name  string
	Intro string // what the program does, in lines of its own
	Verbs []Verb
}

// A Verb is one thing that a command does.
type Verb struct {
	Name    string
	Args    string // what follows the flags, for the usage text
	Summary string
	Run     func(ctx context.Context, s Streams, v Verb, args []string) error

	command string
}

// Main runs the command on what the process was given, and ends the process.
func (c Command) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(c.Run(ctx, os.Args[1:], Streams{os.Stdin, os.Stdout, os.Stderr}))
}

// Run runs the verb that args name and returns the exit status.
func (c Command) Run(ctx context.Context, args []string, s Streams) int {
	if len(args) == 0 {
		c.writeUsage(s.Err)
		return ExitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 {
			c.writeUsage(s.Out)
			return ExitOK
		}
		args = []string{args[1], "-h"} // help VERB
	case "-version", "--version":
		args[0] = "version"
	}
	for _, v := range c.Verbs {
		if v.Name == args[0] {
			v.command = c.Name
			return v.Report(s, v.Run(ctx, s, v, args[1:]))
		}
	}
	fmt.Fprintf(s.Err, "%s: there is no verb %q; see %s help\n", c.Name, args[0], c.Name)
	return ExitUsage
}

// Report writes err for people and returns the exit status that goes with it.
func (v Verb) Report(s Streams, err error) int {
	name := v.command + " " + v.Name
	var usage UsageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return ExitOK
	case errors.As(err, &usage):
		fmt.Fprintf(s.Err, "%s: %v; see %s -h\n", name, err, name)
		return ExitUsage
	}
	for line := range strings.Lines(err.Error()) { // one a joined error
		fmt.Fprintf(s.Err, "%s: %s\n", name, strings.TrimSuffix(line, "\n"))
	}
	return ExitFailure
}

func (c Command) writeUsage(w io.Writer) {
	width := 0
	for _, v := range c.Verbs {
		width = max(width, utf8.RuneCountInString(v.Name+" "+v.Args))
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n\n", c.Intro)
	for _, v := range c.Verbs {
		fmt.Fprintf(w, "  %s %-*s  %s\n", c.Name, width, v.Name+" "+v.Args, v.Summary)
	}
	fmt.Fprintf(w, "\n\"%s VERB -h\" lists the flags of a verb.\n", c.Name)
}

// WriteJSON writes v for programs.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
