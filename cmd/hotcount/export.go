package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hotcount/hotcount/cmd/internal/lifetime"
	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/internal/cli"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// sinkVariable is where a sink's address is looked for if no argument has it,
// so that no password is on a command line.
const sinkVariable = "HOTCOUNT_SINK"

// newWriter is the value of -as that asks for a new id.
const newWriter = "new"

// An exported is what export prints.
type exported struct {
	Sink    string   `json:"sink"`
	Writers []string `json:"writers"` // whose rows were sent
	Rows    int      `json:"rows"`
	As      string   `json:"as,omitempty"` // the one id that all was sent under
}

func exportVerb(ctx context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	as := fs.String("as", "", "send the totals as those of the one writer `ID` of 32 hex digits, which replaces what was sent as it before; new is a new one")
	resume := fs.Bool("resume", false, "send only the rows that a sink of the engine may lack, for a SINK that has been one")
	timeout := fs.Duration("timeout", time.Minute, "allow each write this `TIME`")
	rest, err := v.Parse(fs, s, args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) == 0:
		return cli.Usagef("no directory is given")
	case len(rest) > 2:
		return cli.Usagef("%q is one argument too many", rest[2])
	case *as != "" && *resume:
		return cli.Usagef("-as and -resume exclude each other")
	case *timeout <= 0:
		return cli.Usagef("-timeout %v is not positive", *timeout)
	}
	target, err := sinkArgument(rest[1:])
	if err != nil {
		return err
	}
	snapshots, err := exportable(rest[0], *as, *resume)
	if err != nil {
		return err
	}
	result, err := send(ctx, target, snapshots, *timeout)
	if err != nil {
		return err
	}
	if *as != "" {
		result.As = snapshots[0].Writer.String()
	}
	if *asJSON {
		return cli.WriteJSON(s.Out, result)
	}
	return result.writeText(s)
}

// sinkArgument returns the sink that the arguments name, or the environment.
func sinkArgument(args []string) (sinks.Target, error) {
	address := os.Getenv(sinkVariable)
	if len(args) > 0 {
		address = args[0]
	}
	if address == "" {
		return sinks.Target{}, cli.Usagef("no sink is given, here or in $%s; known are %s", sinkVariable, sinks.Forms())
	}
	target, err := sinks.Parse(address)
	if err != nil {
		return sinks.Target{}, cli.Misused(err)
	}
	return target, nil
}

// exportable returns the snapshots to send.
//
// Rows under the id of the writer that counted them can be sent any number of
// times, also by the engine itself. But a base, and rows that are retired, are
// sums of what the engine's sinks were sent before: sent again they would count
// twice, and left out they would be missing elsewhere. Only the user knows.
func exportable(dir, as string, resume bool) ([]*snapshot.Snapshot, error) {
	snapshots, _, err := filesink.Load(dir)
	if err != nil {
		return nil, err
	}
	if len(snapshots) == 0 {
		return nil, fmt.Errorf("%s: there are no snapshots", dir)
	}
	if as != "" {
		return asOne(snapshots, as)
	}
	var apart []*snapshot.Snapshot
	summed := false
	for _, s := range snapshots {
		if s.Writer.IsZero() {
			summed = true
			continue
		}
		summed = summed || len(s.Retired) > 0
		apart = append(apart, s)
	}
	if summed && !resume {
		return nil, fmt.Errorf("%s: some counts are there only as sums over earlier runs or rows; give -as %s to send all as one writer to a sink that has none of them, or -resume for a sink that the engine wrote to itself", dir, newWriter)
	}
	if len(apart) == 0 {
		return nil, fmt.Errorf("%s: nothing is left to send: every run is in the base", dir)
	}
	return apart, nil
}

func asOne(snapshots []*snapshot.Snapshot, as string) ([]*snapshot.Snapshot, error) {
	writer := snapshot.NewWriterID()
	if as != newWriter {
		var err error
		if writer, err = snapshot.ParseWriterID(as); err != nil {
			return nil, cli.Usagef("-as: %w", err)
		}
		if writer.IsZero() {
			return nil, cli.Usagef("-as: no writer has this id")
		}
	}
	totals, err := lifetime.Sum(snapshots)
	if err != nil {
		return nil, err
	}
	return []*snapshot.Snapshot{totals.Snapshot(writer)}, nil
}

// send writes snapshots one after the other, the oldest writer first.
func send(ctx context.Context, target sinks.Target, snapshots []*snapshot.Snapshot, timeout time.Duration) (_ *exported, err error) {
	sink, err := target.Sink(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, target.Clean(sink.Close())) }()
	result := &exported{Sink: target.String()}
	for _, s := range snapshots {
		if err := write(ctx, sink, s, timeout); err != nil {
			return nil, fmt.Errorf("after %d of %d writers: %w", len(result.Writers), len(snapshots), target.Clean(err))
		}
		result.Writers = append(result.Writers, s.Writer.String())
		result.Rows += len(s.Counters) + len(s.Final) + len(s.Uniques) + len(s.Windows)
	}
	return result, nil
}

func write(ctx context.Context, sink sinks.Sink, s *snapshot.Snapshot, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return sink.Write(ctx, s)
}

func (e *exported) writeText(s cli.Streams) error {
	_, err := fmt.Fprintf(s.Out, "Sent %s of %s to %s.\n", text.Count(int64(e.Rows), "row"),
		text.Count(int64(len(e.Writers)), "writer"), safetext.Printable(e.Sink, len(e.Sink)))
	if e.As != "" && err == nil {
		_, err = fmt.Fprintf(s.Out, "They are writer %s there. Give -as with this id next time, or they count twice.\n", e.As)
	}
	return err
}
