package main

import (
	"context"
	"errors"
	"time"

	"github.com/hotcount/hotcount/cmd/internal/size"
	"github.com/hotcount/hotcount/internal/cli"
	"github.com/hotcount/hotcount/stripe"
)

func sizeVerb(_ context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	ask := size.Ask{}
	fs.StringVar(&ask.Kind, "kind", size.Total, "`KIND` of count: total, uniques or windows")
	fs.Float64Var(&ask.Peak, "peak", 0, "`ADDS` per second to the busiest series, such as 5e7; must be given")
	fs.Float64Var(&ask.Reads, "reads", 1, "`READS` per second of that series")
	fs.DurationVar(&ask.Fresh, "fresh", 0, "how old an answer may be, a `TIME` such as 1s; 0 is not at all")
	fs.Float64Var(&ask.Error, "error", 0, "by which `SHARE`, such as 0.01, an answer may be wrong; 0 is exact")
	fs.Int64Var(&ask.Series, "series", 1, "how many series there are, `N`")
	fs.DurationVar(&ask.Window, "window", time.Hour, "how far back windows reach, a `TIME`")
	costs := size.Costs{}
	fs.Float64Var(&costs.Ceiling, "ceiling", 0, "`ADDS` per second that one stripe takes; 0 is measured here")
	fs.Float64Var(&costs.Line, "line", 0, "`NS` that a read takes for each line; 0 is measured here")
	fs.IntVar(&costs.Processors, "cores", 0, "how many processors there will be, `N`; 0 is GOMAXPROCS")
	if err := v.ParseNone(fs, s, args); err != nil {
		return err
	}
	if ask.Peak == 0 {
		return cli.Usagef("-peak is not given, or 0")
	}
	if err := ask.Check(); err != nil {
		return cli.Misused(err)
	}
	plan, err := size.New(ask, size.Measure(costs))
	switch {
	case errors.Is(err, stripe.ErrRate):
		return err
	case err != nil:
		return cli.Misused(err)
	case *asJSON:
		return cli.WriteJSON(s.Out, plan)
	}
	return plan.WriteText(s.Out)
}
