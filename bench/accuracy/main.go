// Command accuracy measures the error of package hll's estimates and prints it
// as a Markdown table, each RMSE with its standard error. The table in DESIGN.md is
// its output.
//
//	go run ./bench/accuracy                  # precision 14
//	go run ./bench/accuracy -precision 4,8,12,16,18 -trials 1000
//	go run ./bench/accuracy -hash redis
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount/hll"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned
	precisions := flags.String("precision", "14", "comma-separated `precisions`")
	counts := flags.String("n", "1,10,100,1000,5000,7000,7700,8000,10000,40000,80000,100000,1000000,10000000", "comma-separated `numbers` of elements")
	hash := flags.String("hash", "xxhash", "`hash` of the elements: xxhash or redis")
	trials := flags.Int("trials", 10_000, "trials of each number of elements")
	budget := flags.Uint64("budget", 1_000_000_000, "the most `elements` to add for one number, which then gets fewer trials, but at least 100")
	seed := flags.Uint64("seed", 1, "other elements for each `seed`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(out)
		flags.Usage()
		return nil
	} else if err != nil {
		return err
	}
	c := config{seed: *seed, trials: *trials, budget: *budget}
	var err error
	if c.options.Hash, err = parseHash(*hash); err != nil {
		return err
	}
	if c.counts, err = parseList(*counts); err != nil {
		return err
	}
	ps, err := parseList(*precisions)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| p | n | trials | bias | beyond ½, in standard errors | RMSE | of 0.761/√m | truth within 2 sigma |")
	fmt.Fprintln(out, "|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, p := range ps {
		c.options.Precision = int(p)
		rows, err := measure(c)
		if err != nil {
			return err
		}
		for _, r := range rows {
			fmt.Fprintf(out, "| %d | %d | %d | %+.4f %% | %.1f | %.4f ± %.4f %% | %.2f | %.1f %% |\n", p, r.n, r.trials,
				100*r.bias, r.biasInErrors(), 100*r.rmse, 100*r.spread(), r.rmse/denseError(int(p)), 100*r.inside)
		}
	}
	return nil
}

func parseHash(s string) (hll.Hash, error) {
	for _, h := range []hll.Hash{hll.XXHash, hll.Redis} {
		if h.String() == s {
			return h, nil
		}
	}
	return 0, fmt.Errorf("unknown hash %q", s)
}

func parseList(s string) ([]uint64, error) {
	var list []uint64
	for field := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}
