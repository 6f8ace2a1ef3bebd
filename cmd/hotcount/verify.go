package main

import (
	"context"
	"errors"

	"github.com/hotcount/hotcount/cmd/internal/inspect"
)

func verifyVerb(_ context.Context, s streams, v verb, args []string) error {
	fs := v.flags()
	asJSON := fs.Bool("json", false, "print JSON")
	dirs, err := v.parse(fs, s, args)
	if err != nil {
		return err
	}
	if len(dirs) != 1 {
		return usagef("one directory is wanted, not %d", len(dirs))
	}
	result, err := inspect.Verify(dirs[0])
	if err != nil {
		return err
	}
	if *asJSON {
		return errors.Join(result.Err(), writeJSON(s.out, result))
	}
	return errors.Join(result.Err(), result.WriteTable(s.out))
}
