package main

import (
	"context"
	"math"
	"os"

	"github.com/hotcount/hotcount/cmd/internal/inspect"
	"github.com/hotcount/hotcount/internal/cli"
)

func inspectVerb(_ context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON, all of it")
	rows := fs.Int("rows", 50, "list the first `N` series of each kind; 0 is all")
	names, err := v.Parse(fs, s, args)
	if err != nil {
		return err
	}
	switch {
	case len(names) == 0:
		return cli.Usagef("no file or directory is given")
	case len(names) > 2:
		return cli.Usagef("%q is one argument too many", names[2])
	case *rows < 0:
		return cli.Usagef("-rows %d is negative", *rows)
	case *rows == 0:
		*rows = math.MaxInt
	}
	view, table, err := inspected(names, *rows)
	if err != nil {
		return err
	}
	if *asJSON {
		return cli.WriteJSON(s.Out, view)
	}
	return table(s)
}

// inspected returns what there is to say about a file, a directory or two files,
// and a function that says it to people.
func inspected(names []string, rows int) (view any, table func(cli.Streams) error, err error) {
	if len(names) == 2 {
		d, err := inspect.Compare(names[0], names[1])
		return d, func(s cli.Streams) error { return d.WriteTable(s.Out, rows) }, err
	}
	if info, err := os.Stat(names[0]); err == nil && info.IsDir() {
		d, err := inspect.ReadDir(names[0])
		return d, func(s cli.Streams) error { return d.WriteTable(s.Out) }, err
	}
	f, err := inspect.Read(names[0])
	return f, func(s cli.Streams) error { return f.WriteTable(s.Out, rows) }, err
}
