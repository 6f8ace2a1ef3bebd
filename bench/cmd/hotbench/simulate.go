package main

import (
	"context"
	"errors"

	"github.com/hotcount/hotcount/bench/internal/benchtext"
	"github.com/hotcount/hotcount/bench/sim"
	"github.com/hotcount/hotcount/internal/cli"
)

func simulateVerb(ctx context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	var o sim.Options
	fs.IntVar(&o.Sockets, "sockets", 1, "split the cores over `N` sockets")
	fs.Float64Var(&o.Cross, "cross", 0, "`NS` that a line takes from one socket to another; 0 is as within one")
	if err := v.ParseNone(fs, s, args); err != nil {
		return err
	}
	p, err := benchtext.Predict(ctx, o)
	switch {
	case errors.Is(err, sim.ErrConfig):
		return cli.Misused(err)
	case err != nil:
		return err
	case *asJSON:
		return cli.WriteJSON(s.Out, p)
	}
	return p.WriteText(s.Out)
}
