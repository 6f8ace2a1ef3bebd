package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Exit statuses.
const (
	exitOK = iota
	exitFailure
	exitUsage
)

// options are what was asked for.
type options struct {
	base      string
	packages  []string
	bench     string
	rounds    int
	benchtime string
	tolerance float64
}

// leastRounds are the fewest samples from which quartiles mean something.
const leastRounds = 6

var errUsage = errors.New("usage")

func parse(args []string, stderr io.Writer) (options, error) {
	fs := flag.NewFlagSet("guard", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var o options
	fs.StringVar(&o.base, "base", "", "compare with this `COMMIT` (default the last tag)")
	packages := fs.String("pkg", ".,stripe,hll,window,snapshot", "directories of the packages, from the top of the tree, a comma-separated `LIST`")
	fs.StringVar(&o.bench, "bench", ".", "run the benchmarks that match `REGEXP`, as go test does")
	fs.IntVar(&o.rounds, "rounds", 8, fmt.Sprintf("take `N` samples of each, %d at least", leastRounds))
	fs.StringVar(&o.benchtime, "benchtime", "100ms", "take `TIME` or Nx for each sample, as go test does")
	fs.Float64Var(&o.tolerance, "tolerance", 5, "let the median be `PERCENT` higher")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.packages = strings.Split(*packages, ",")
	_, badBench := regexp.Compile(o.bench)
	_, badTime := time.ParseDuration(o.benchtime)
	times := regexp.MustCompile(`^[1-9]\d*x$`).MatchString(o.benchtime)
	for _, c := range []struct {
		bad    bool
		reason string
	}{
		{fs.NArg() > 0, "there are no arguments beside flags"},
		{strings.HasPrefix(o.base, "-"), "-base is no commit"},
		{*packages == "", "-pkg is empty"},
		{badBench != nil, "-bench is no regular expression"},
		{badTime != nil && !times, "-benchtime is neither a time nor Nx"},
		{o.rounds < leastRounds, fmt.Sprintf("-rounds is less than %d", leastRounds)},
		{!(o.tolerance >= 0), "-tolerance is negative"},
	} {
		if c.bad {
			fmt.Fprintln(stderr, "guard:", c.reason)
			return o, errUsage
		}
	}
	return o, nil
}

// run compares the tree that dir is in.
func run(ctx context.Context, dir string, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	slower, err := guard(ctx, dir, o, stdout, stderr)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintln(stderr, "guard:", err)
		return exitFailure
	}
	if slower {
		return exitFailure
	}
	return exitOK
}

// guard compares, and reports whether something got slower.
func guard(ctx context.Context, dir string, o options, stdout, stderr io.Writer) (slower bool, err error) {
	scratch, err := os.MkdirTemp("", "hotcount-guard-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	trees, err := checkOut(ctx, dir, o.base, scratch)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, trees.remove(ctx)) }()
	binaries, err := build(ctx, trees, o.packages, scratch, stderr)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(stderr, "guard: %d packages, %d rounds against %s\n", len(binaries), o.rounds, trees.name)
	m := make(measurements)
	for _, b := range binaries {
		if err := m.take(ctx, b, o, o.bench); err != nil {
			return false, err
		}
	}
	rows, err := confirm(ctx, m.judge(o.tolerance), o)
	if err != nil {
		return false, err
	}
	return report(stdout, trees.name, rows)
}

// confirm measures again what looks slower.
func confirm(ctx context.Context, rows []row, o options) ([]row, error) {
	for i := range rows {
		if rows[i].verdict != slower {
			continue
		}
		m := make(measurements)
		if err := m.take(ctx, rows[i].of.in, o, rows[i].of.regexp()); err != nil {
			return nil, err
		}
		again, ok := m[rows[i].of]
		if !ok {
			continue
		}
		if second := again.judge(rows[i].of, o.tolerance); second.verdict == slower {
			rows[i] = second
		} else {
			rows[i].verdict = unclear
		}
	}
	return rows, nil
}
