package main

import (
	"context"
	"errors"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/demo"
)

// demoEvery is short, so that even a demo that is killed loses little.
const demoEvery = 2 * time.Second

// maxClients keeps the connections, two descriptors each, within the usual
// limit of 1,024 open files.
const maxClients = 400

func demoVerb(ctx context.Context, s streams, v verb, args []string) error {
	fs := v.flags()
	asJSON := fs.Bool("json", false, "print the result as JSON")
	dir := fs.String("dir", "hotcount-demo", "keep snapshots in `DIR`, and go on from those there")
	addr := fs.String("addr", "127.0.0.1:0", "listen on `HOST:PORT`; port 0 is any free one")
	clients := fs.Int("clients", 4, "send requests from `N` clients at once")
	duration := fs.Duration("for", 0, "end after a `TIME` such as 10s, not with Ctrl-C")
	if err := v.parseNone(fs, s, args); err != nil {
		return err
	}
	switch {
	case *dir == "":
		return usagef("-dir must not be empty")
	case *clients < 1 || *clients > maxClients:
		return usagef("-clients %d is not in 1 to %d", *clients, maxClients)
	case *duration < 0:
		return usagef("-for %v is negative", *duration)
	}
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}

	e, err := hotcount.New(hotcount.Options{Dir: *dir, Every: demoEvery})
	if err != nil {
		return err
	}
	result, err := demo.Run(ctx, e, demo.Options{
		Addr:    *addr,
		Clients: *clients,
		Screen:  &demo.Screen{W: s.err, Terminal: isTerminal(s.err), Every: demoEvery, Dir: *dir},
	})
	err = errors.Join(err, closeEngine(e))
	if result == nil {
		return err
	}
	saved, savedErr := demo.ReadBack(*dir)
	if savedErr == nil {
		result.CheckSaved(saved)
	}
	write := result.WriteText
	if *asJSON {
		write = result.WriteJSON
	}
	return errors.Join(err, savedErr, result.Err(), write(s.out))
}
