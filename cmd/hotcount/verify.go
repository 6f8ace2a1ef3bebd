package main

import (
	"context"
	"errors"

	"github.com/hotcount/hotcount/cmd/internal/inspect"
	"github.com/hotcount/hotcount/internal/cli"
)

func verifyVerb(_ context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	dirs, err := v.Parse(fs, s, args)
	if err != nil {
		return err
	}
	if len(dirs) != 1 {
		return cli.Usagef("one directory is wanted, not %d", len(dirs))
	}
	result, err := inspect.Verify(dirs[0])
	if err != nil {
		return err
	}
	if *asJSON {
		return errors.Join(result.Err(), cli.WriteJSON(s.Out, result))
	}
	return errors.Join(result.Err(), result.WriteTable(s.Out))
}
