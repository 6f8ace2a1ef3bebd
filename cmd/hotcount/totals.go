package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/cmd/internal/totals"
	"github.com/hotcount/hotcount/internal/cli"
)

func totalsVerb(ctx context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	top := fs.Int("top", 0, "list the `N` greatest of each kind; 0 is all, by name")
	watch := fs.Duration("watch", 0, "print again every `TIME` such as 2s, with rates, until Ctrl-C")
	rest, err := v.Parse(fs, s, args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) > 2:
		return cli.Usagef("%q is one argument too many", rest[2])
	case *top < 0:
		return cli.Usagef("-top %d is negative", *top)
	case *watch < 0:
		return cli.Usagef("-watch %v is negative", *watch)
	}
	target, pattern, err := sourceArguments(rest)
	if err != nil {
		return err
	}
	reader, err := target.Reader(ctx)
	if err != nil {
		return err
	}
	w := totalsWriter{Streams: s, asJSON: *asJSON, clear: *watch > 0 && isTerminal(s.Out)}
	read := func() error {
		t, err := totals.Read(ctx, reader, pattern)
		if t == nil {
			return err
		}
		t.Top(*top)
		return errors.Join(err, w.write(t))
	}
	complain := func(err error) { v.Report(s, target.Clean(err)) }
	return errors.Join(target.Clean(repeat(ctx, *watch, read, complain)), target.Clean(reader.Close()))
}

// sourceArguments returns the store or directory to read, from the arguments or
// the environment, and the pattern of series.
func sourceArguments(args []string) (target sinks.Target, pattern string, err error) {
	if len(args) == 0 || sinks.IsAddress(args[0]) {
		target, err = sinkArgument(args[:min(1, len(args))])
	} else {
		target = sinks.Dir(args[0])
		if info, statErr := os.Stat(args[0]); statErr != nil {
			err = statErr
		} else if !info.IsDir() {
			err = fmt.Errorf("%s is no directory", args[0])
		}
	}
	if len(args) == 2 {
		pattern = args[1]
	}
	return target, pattern, err
}

// repeat calls f once, or every so often until ctx is done, which then is no
// error. An error of the first call ends it; later ones go to complain, since
// the next call may do better.
func repeat(ctx context.Context, every time.Duration, f func() error, complain func(error)) error {
	if err := f(); every == 0 || err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := f(); err != nil && ctx.Err() == nil {
				complain(err)
			}
		}
	}
}

// A totalsWriter writes totals one after the other.
type totalsWriter struct {
	cli.Streams
	asJSON, clear bool
	before        *totals.Totals
}

func (w *totalsWriter) write(t *totals.Totals) error {
	t.Since(w.before)
	w.before = t
	if w.asJSON {
		return cli.WriteJSON(w.Out, t)
	}
	if w.clear {
		const homeAndClear = "\x1b[H\x1b[2J"
		fmt.Fprint(w.Out, homeAndClear)
	}
	return t.WriteTable(w.Out)
}
