package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A benchmark is one name in a package.
type benchmark struct {
	in   *binary
	name string // with what follows slashes, and GOMAXPROCS
}

// regexp returns what makes go test run this benchmark.
func (b benchmark) regexp() string {
	name, parts := benchfmt.Name(b.name).Parts()
	whole := []string{"^" + regexp.QuoteMeta("Benchmark"+string(name)) + "$"}
	for _, part := range parts {
		if part[0] == '/' { // the other one is GOMAXPROCS
			whole = append(whole, "^"+regexp.QuoteMeta(string(part[1:]))+"$")
		}
	}
	return strings.Join(whole, "/")
}

// samples are the seconds per operation of a benchmark before and after.
type samples [2][]float64

type measurements map[benchmark]*samples

// take runs the benchmarks of a package in turns. Who is first takes turns, too.
func (m measurements) take(ctx context.Context, b *binary, o options, bench string) error {
	for round := range o.rounds {
		for _, side := range [...][2]int{{before, after}, {after, before}}[round%2] {
			out, err := output(ctx, b.dirs[side], b.paths[side], "-test.run=^$", "-test.bench="+bench, "-test.benchtime="+o.benchtime)
			if err != nil {
				return fmt.Errorf("benchmarks of %s: %w", b.pkg, err)
			}
			if err := m.read(b, side, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// read takes the samples out of what a test binary printed.
func (m measurements) read(b *binary, side int, out string) error {
	results := benchfmt.NewReader(strings.NewReader(out), b.pkg)
	for results.Scan() {
		r, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue // a line of something else
		}
		v, ok := r.Value("sec/op")
		if !ok || !(v > 0) {
			continue
		}
		key := benchmark{b, string(r.Name.Full())}
		if m[key] == nil {
			m[key] = new(samples)
		}
		m[key][side] = append(m[key][side], v)
	}
	return results.Err()
}
