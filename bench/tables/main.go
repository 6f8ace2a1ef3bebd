package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hotcount/hotcount/bench"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// Exit statuses.
const (
	exitOK = iota
	exitFailure
	exitUsage
)

func run(args []string, stderr io.Writer) int {
	fs := flag.NewFlagSet("tables", flag.ContinueOnError)
	fs.SetOutput(stderr)
	from := fs.String("from", "", "take the numbers from a `FILE` that hotbench run -json wrote")
	fs.Usage = func() {
		fmt.Fprintln(stderr, "Usage: tables -from RESULTS FILE…")
		fs.PrintDefaults()
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case *from == "" || fs.NArg() == 0:
		fs.Usage()
		return exitUsage
	}
	if err := generate(*from, fs.Args()); err != nil {
		fmt.Fprintln(stderr, "tables:", err)
		return exitFailure
	}
	return exitOK
}

// generate writes the sections into all pages, or none.
func generate(from string, pages []string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	report, err := bench.Decode(f)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	updated := make([][]byte, len(pages))
	for i, page := range pages {
		old, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if updated[i], err = replace(old, func(name string) (string, error) { return section(name, report) }); err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		if bytes.Equal(updated[i], old) {
			updated[i] = nil
		}
	}
	for i, page := range pages {
		if updated[i] == nil {
			continue
		}
		if err := os.WriteFile(page, updated[i], 0o666); err != nil {
			return err
		}
	}
	return nil
}
