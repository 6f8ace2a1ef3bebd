package main

import (
	"context"
	"math"
	"os"

	"github.com/hotcount/hotcount/cmd/internal/inspect"
)

func inspectVerb(_ context.Context, s streams, v verb, args []string) error {
	fs := v.flags()
	asJSON := fs.Bool("json", false, "print JSON, all of it")
	rows := fs.Int("rows", 50, "list the first `N` series of each kind; 0 is all")
	names, err := v.parse(fs, s, args)
	if err != nil {
		return err
	}
	switch {
	case len(names) == 0:
		return usagef("no file or directory is given")
	case len(names) > 2:
		return usagef("%q is one argument too many", names[2])
	case *rows < 0:
		return usagef("-rows %d is negative", *rows)
	case *rows == 0:
		*rows = math.MaxInt
	}
	view, table, err := inspected(names, *rows)
	if err != nil {
		return err
	}
	if *asJSON {
		return writeJSON(s.out, view)
	}
	return table(s)
}

// inspected returns what there is to say about a file, a directory or two files,
// and a function that says it to people.
func inspected(names []string, rows int) (view any, table func(streams) error, err error) {
	if len(names) == 2 {
		d, err := inspect.Compare(names[0], names[1])
		return d, func(s streams) error { return d.WriteTable(s.out, rows) }, err
	}
	if info, err := os.Stat(names[0]); err == nil && info.IsDir() {
		d, err := inspect.ReadDir(names[0])
		return d, func(s streams) error { return d.WriteTable(s.out) }, err
	}
	f, err := inspect.Read(names[0])
	return f, func(s streams) error { return f.WriteTable(s.out, rows) }, err
}
