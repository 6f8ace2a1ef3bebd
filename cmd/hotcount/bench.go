package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/peers"
	"github.com/hotcount/hotcount/bench/plot"
	"github.com/hotcount/hotcount/cmd/internal/benchtext"
)

// quickFor is what -quick may take: 20 s with some of them for the start and the
// end of the process.
const quickFor = 18 * time.Second

// benchFlags are what was asked for.
type benchFlags struct {
	quick, full, list, asJSON bool
	workloads, filter         string
	samples, procs            int
	limit                     time.Duration
	from, commit              string
	files                     []benchFile
}

// A benchFile is a file to write a report to, in one of its forms.
type benchFile struct {
	path  *string
	write func(*bench.Report, io.Writer) error
}

func (b *benchFlags) define(fs *flag.FlagSet) {
	fs.BoolVar(&b.quick, "quick", false, "end within 20 s: 6 samples of each implementation in its usual case")
	fs.BoolVar(&b.full, "full", false, "measure every combination of stripes, picks, goroutines, reads and keys")
	fs.BoolVar(&b.list, "list", false, "print the names of the cases, and measure nothing")
	fs.BoolVar(&b.asJSON, "json", false, "print JSON")
	fs.StringVar(&b.workloads, "workload", "", "measure only the workloads in a comma-separated `LIST`")
	fs.StringVar(&b.filter, "filter", "", "measure only cases with names that match `REGEXP`; see -list")
	fs.IntVar(&b.samples, "samples", 0, fmt.Sprintf("take `N` samples of each case, %d at least (default 10)", bench.MinSamples))
	fs.IntVar(&b.procs, "procs", runtime.GOMAXPROCS(0), "measure with GOMAXPROCS `N`")
	fs.DurationVar(&b.limit, "for", 0, "end within a `TIME` such as 2m, with rounds as long as there is time for")
	fs.StringVar(&b.from, "from", "", "show the report in a `FILE` that -json wrote, and measure nothing; - is standard input")
	fs.StringVar(&b.commit, "commit", buildCommit(readVersion()), "note in the report that the source is of this `COMMIT`")
	b.files = []benchFile{
		{fs.String("csv", "", "write a `FILE` with a row for each case, too"), (*bench.Report).WriteCSV},
		{fs.String("benchstat", "", "write a `FILE` for benchstat, too"), (*bench.Report).WriteBench},
		{fs.String("html", "", "write a `FILE` with charts and tables, too, for a browser"), writeHTML},
	}
}

// maxProcs is more than any machine has that Go runs on.
const maxProcs = 4096

func (b *benchFlags) check() error {
	switch {
	case b.quick && b.full:
		return usagef("-quick and -full exclude each other")
	case b.quick && b.limit != 0:
		return usagef("-quick and -for exclude each other")
	case b.from != "" && (b.quick || b.full || b.list):
		return usagef("-from measures nothing, so -quick, -full and -list do not go with it")
	case b.limit < 0:
		return usagef("-for %v is negative", b.limit)
	case b.samples != 0 && b.samples < bench.MinSamples:
		return usagef("-samples %d is less than %d", b.samples, bench.MinSamples)
	case b.procs < 1 || b.procs > maxProcs:
		return usagef("-procs %d is not in 1 to %d", b.procs, maxProcs)
	}
	return nil
}

func benchVerb(ctx context.Context, s streams, v verb, args []string) error {
	fs := v.flags()
	var b benchFlags
	b.define(fs)
	if err := v.parseNone(fs, s, args); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	if b.from != "" {
		report, err := b.read(s.in)
		if err != nil {
			return err
		}
		return b.write(s.out, report)
	}
	cases, err := b.cases()
	if err != nil {
		return err
	}
	if b.list {
		return writeNames(s.out, cases, b.asJSON)
	}
	report, err := b.measure(ctx, s, cases)
	if report == nil {
		return err
	}
	report.Commit = b.commit
	report.Command = strings.Join(append([]string{"hotcount", v.name}, args...), " ")
	return errors.Join(err, b.write(s.out, report))
}

// cases returns what to measure.
func (b *benchFlags) cases() ([]bench.Case, error) {
	workloads := peers.All()
	if b.workloads != "" {
		var names []string
		for _, w := range workloads {
			names = append(names, w.Name)
		}
		wanted := strings.Split(b.workloads, ",")
		for _, name := range wanted {
			if !slices.Contains(names, name) {
				return nil, usagef("there is no workload %q; there are %s", name, strings.Join(names, ", "))
			}
		}
		workloads = slices.DeleteFunc(workloads, func(w bench.Workload) bool { return !slices.Contains(wanted, w.Name) })
	}
	filter, err := regexp.Compile(b.filter)
	if err != nil {
		return nil, usagef("-filter: %v", err)
	}
	cases := slices.DeleteFunc(bench.Plan(workloads, b.procs, b.extent()), func(c bench.Case) bool {
		return !filter.MatchString(c.Name())
	})
	if len(cases) == 0 {
		return nil, usagef("no case matches; see -list")
	}
	return cases, nil
}

func (b *benchFlags) extent() bench.Extent {
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
func (b *benchFlags) measure(ctx context.Context, s streams, cases []bench.Case) (*bench.Report, error) {
	screen := &benchtext.Screen{W: s.err, Terminal: isTerminal(s.err)}
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
		return nil, usageError{err}
	case err != nil && ctx.Err() != nil:
		return report, fmt.Errorf("stopped before the end: %w", err)
	}
	return report, err
}

// read reads the report that -from names.
func (b *benchFlags) read(stdin io.Reader) (*bench.Report, error) {
	if b.from == "-" {
		return bench.Decode(stdin)
	}
	f, err := os.Open(b.from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report, err := bench.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.from, err)
	}
	return report, nil
}

// write shows the report, and writes the files that were asked for.
func (b *benchFlags) write(w io.Writer, r *bench.Report) error {
	var errs []error
	for _, f := range b.files {
		if *f.path != "" {
			errs = append(errs, writeFile(*f.path, r, f.write))
		}
	}
	if b.asJSON {
		return errors.Join(append(errs, r.WriteJSON(w))...)
	}
	return errors.Join(append(errs, benchtext.WriteTables(w, r))...)
}

func writeHTML(r *bench.Report, w io.Writer) error { return plot.WriteHTML(w, r) }

func writeFile(path string, r *bench.Report, write func(*bench.Report, io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(r, f), f.Close())
}

func writeNames(w io.Writer, cases []bench.Case, asJSON bool) error {
	names := make([]string, len(cases))
	for i := range cases {
		names[i] = cases[i].Name()
	}
	if asJSON {
		return writeJSON(w, names)
	}
	_, err := fmt.Fprintln(w, strings.Join(names, "\n"))
	return err
}

// buildCommit returns the commit that the program was built from, with a plus
// if the source had changes, and "" if the build does not say.
func buildCommit(v version) string {
	if v.Modified {
		return v.Revision + "+"
	}
	return v.Revision
}
