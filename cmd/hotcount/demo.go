package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hotcount/hotcount/cmd/internal/demo"
	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/internal/cli"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// demoInterval is short, so that even a demo that is killed loses little.
const demoInterval = 2 * time.Second

// maxClients keeps the connections, two descriptors each, within the usual
// limit of 1,024 open files.
const maxClients = 400

func demoVerb(ctx context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print the result as JSON")
	dir := fs.String("dir", "hotcount-demo", "keep snapshots in `DIR`, and go on from those there")
	addr := fs.String("addr", "127.0.0.1:0", "listen on `HOST:PORT`; port 0 is any free one")
	clients := fs.Int("clients", 4, "send requests from `N` clients at once")
	duration := fs.Duration("for", demo.DefaultFor, "end after a `TIME`; 0 is with Ctrl-C")
	sink := fs.String("sink", "", "share the store at `ADDRESS` with other demos, each with a -dir of its own, and show the\nfleet's totals: "+sinks.Forms())
	if err := v.ParseNone(fs, s, args); err != nil {
		return err
	}
	switch {
	case *dir == "":
		return cli.Usagef("-dir must not be empty")
	case *clients < 1 || *clients > maxClients:
		return cli.Usagef("-clients %d is not in 1 to %d", *clients, maxClients)
	case *duration < 0:
		return cli.Usagef("-for %v is negative", *duration)
	}
	o := demo.Options{
		Addr:     *addr,
		Clients:  *clients,
		For:      *duration,
		Dir:      *dir,
		Interval: demoInterval,
		Screen:   &demo.Screen{W: s.Err, Terminal: isTerminal(s.Err)},
	}
	if *sink != "" {
		target, err := sinks.Parse(*sink)
		if err != nil {
			return cli.Misused(err)
		}
		o.Sink = &target
	}
	result, err := demo.Run(ctx, o)
	if errors.Is(err, filesink.ErrLocked) {
		err = fmt.Errorf("%w; a second demo needs another -dir", err)
	}
	if result == nil {
		return err
	}
	write := result.WriteText
	if *asJSON {
		write = result.WriteJSON
	}
	return errors.Join(err, result.Err(), write(s.Out))
}
