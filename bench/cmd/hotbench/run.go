package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/benchtext"
	"github.com/hotcount/hotcount/bench/peers"
	"github.com/hotcount/hotcount/internal/cli"
)

// quickFor is what -quick may take: 20 s with some of them for the start and the
// end of the process.
const quickFor = 18 * time.Second

// runFlags are what was asked for.
type runFlags struct {
	quick, full, list bool
	workloads, filter string
	samples, procs    int
	limit             time.Duration
	commit            string
	out               output
}

func (b *runFlags) define(fs *flag.FlagSet) {
	fs.BoolVar(&b.quick, "quick", false, "end within 20 s: 6 samples of each implementation in its usual case")
	fs.BoolVar(&b.full, "full", false, "measure every combination of stripes, picks, goroutines, reads and keys")
	fs.BoolVar(&b.list, "list", false, "print the names of the cases, and measure nothing")
	fs.StringVar(&b.workloads, "workload", "", "measure only the workloads in a comma-separated `LIST`")
	fs.StringVar(&b.filter, "filter", "", "measure only cases with names that match `REGEXP`; see -list")
	fs.IntVar(&b.samples, "samples", 0, fmt.Sprintf("take `N` samples of each case, %d at least (default 10)", bench.MinSamples))
	fs.IntVar(&b.procs, "procs", runtime.GOMAXPROCS(0), "measure with GOMAXPROCS `N`")
	fs.DurationVar(&b.limit, "for", 0, "end within a `TIME` such as 2m, with rounds as long as there is time for")
	fs.StringVar(&b.commit, "commit", builtFrom(), "note in the report that the source is of this `COMMIT`")
	b.out.define(fs)
}

// maxProcs is more than any machine has that Go runs on.
const maxProcs = 4096

func (b *runFlags) check() error {
	switch {
	case b.quick && b.full:
		return cli.Usagef("-quick and -full exclude each other")
	case b.quick && b.limit != 0:
		return cli.Usagef("-quick and -for exclude each other")
	case b.limit < 0:
		return cli.Usagef("-for %v is negative", b.limit)
	case b.samples != 0 && b.samples < bench.MinSamples:
		return cli.Usagef("-samples %d is less than %d", b.samples, bench.MinSamples)
	case b.procs < 1 || b.procs > maxProcs:
		return cli.Usagef("-procs %d is not in 1 to %d", b.procs, maxProcs)
	}
	return nil
}

func runVerb(ctx context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	var b runFlags
	b.define(fs)
	if err := v.ParseNone(fs, s, args); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	cases, err := b.cases()
	if err != nil {
		return err
	}
	if b.list {
		return writeNames(s.Out, cases, b.out.asJSON)
	}
	report, err := b.measure(ctx, s, cases)
	if report == nil {
		return err
	}
	report.Commit = b.commit
	report.Command = strings.Join(append([]string{"hotbench", v.Name}, args...), " ")
	return errors.Join(err, b.out.write(s.Out, report))
}

// cases returns what to measure.
func (b *runFlags) cases() ([]bench.Case, error) {
	workloads := peers.All()
	if b.workloads != "" {
		var names []string
		for _, w := range workloads {
			names = append(names, w.Name)
		}
		wanted := strings.Split(b.workloads, ",")
		for _, name := range wanted {
			if !slices.Contains(names, name) {
				return nil, cli.Usagef("there is no workload %q; there are %s", name, strings.Join(names, ", "))
			}
		}
		workloads = slices.DeleteFunc(workloads, func(w bench.Workload) bool { return !slices.Contains(wanted, w.Name) })
	}
	filter, err := regexp.Compile(b.filter)
	if err != nil {
		return nil, cli.Usagef("-filter: %v", err)
	}
	cases := slices.DeleteFunc(bench.Plan(workloads, b.procs, b.extent()), func(c bench.Case) bool {
		return !filter.MatchString(c.Name())
	})
	if len(cases) == 0 {
		return nil, cli.Usagef("no case matches; see -list")
	}
	return cases, nil
}

func (b *runFlags) extent() bench.Extent {
	switch {
	case b.quick:
		return bench.Quick
	case b.full:
		return bench.Full
	}
	return bench.Usual
}

// measure runs the benchmark. An error that comes with a report is of what is
// missing in that.
func (b *runFlags) measure(ctx context.Context, s cli.Streams, cases []bench.Case) (*bench.Report, error) {
	screen := &benchtext.Screen{W: s.Err, Terminal: isTerminal(s.Err)}
	o := bench.Options{
		Samples:  b.samples,
		Budget:   b.limit,
		Procs:    b.procs,
		Progress: func(p bench.Progress) { screen.Show(p, time.Now()) },
	}
	if b.quick {
		o.Budget = quickFor
		if o.Samples == 0 {
			o.Samples = bench.MinSamples
		}
	}
	report, err := bench.Run(ctx, cases, o)
	screen.Clear()
	switch {
	case errors.Is(err, bench.ErrOptions):
		return nil, cli.Misused(err)
	case err != nil && ctx.Err() != nil:
		return report, fmt.Errorf("stopped before the end: %w", err)
	}
	return report, err
}

func writeNames(w io.Writer, cases []bench.Case, asJSON bool) error {
	names := make([]string, len(cases))
	for i := range cases {
		names[i] = cases[i].Name()
	}
	if asJSON {
		return cli.WriteJSON(w, names)
	}
	_, err := fmt.Fprintln(w, strings.Join(names, "\n"))
	return err
}

// builtFrom returns the commit that the program was built from, with a plus if
// the source had changes, and "" if the build does not say.
func builtFrom() (commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+"
		}
	}
	return commit + modified
}
