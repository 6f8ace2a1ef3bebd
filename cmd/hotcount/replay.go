package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/replay"
	"github.com/hotcount/hotcount/internal/cli"
	"github.com/hotcount/hotcount/internal/text"
)

// maxWorkers is far more than any machine has use for; each takes 128 KiB.
const maxWorkers = 10_000

func replayVerb(ctx context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	workers := fs.Int("workers", runtime.GOMAXPROCS(0), "count in `N` goroutines")
	top := fs.Int("top", 10, "list the `K` most frequent paths")
	paths := fs.Int64("max-series", 10_000, "count at most `N` paths one by one, and the others together")
	dir := fs.String("dir", "", "keep snapshots in `DIR`, and go on from those there")
	verify := fs.Bool("verify", false, "count with a map and a mutex too, and fail if anything differs")
	files, err := v.Parse(fs, s, args)
	if err != nil {
		return err
	}
	switch {
	case len(files) == 0:
		return cli.Usagef("no file is given; - is standard input")
	case *workers < 1 || *workers > maxWorkers:
		return cli.Usagef("-workers %d is not in 1 to %d", *workers, maxWorkers)
	case *top < 0:
		return cli.Usagef("-top %d is negative", *top)
	case *paths < 1 || *paths > math.MaxInt32:
		return cli.Usagef("-max-series %d is not in 1 to %d", *paths, math.MaxInt32)
	}

	e, err := hotcount.New(hotcount.Options{Dir: *dir, Limits: replay.Limits(*paths)})
	if err != nil {
		return err
	}
	tally := replay.NewTally(e)
	var exact *replay.Exact
	if *verify {
		exact = replay.NewExact()
	}
	hide := showProgress(s.Err, tally)
	start := time.Now()
	malformed, readErr := replay.Run(ctx, sources(files, s.In), *workers, tally, exact)
	took := time.Since(start)
	hide()

	if readErr != nil && tally.Lines() == 0 { // no file could be read at all
		return errors.Join(readErr, closeEngine(e))
	}
	report := replay.NewReport(e, *top)
	report.MalformedLines = malformed
	report.Time(*workers, took)
	var verifyErr error
	if *verify {
		verification := replay.Verify(replay.OfThisRun(e), exact.Counts())
		verification.Clients = replay.CheckClients(report, exact)
		report.Verification, verifyErr = &verification, verification.Err()
	}
	write := report.WriteTable
	if *asJSON {
		write = report.WriteJSON
	}
	return errors.Join(readErr, verifyErr, closeEngine(e), write(s.Out))
}

func sources(files []string, stdin io.Reader) []replay.Source {
	var list []replay.Source
	for _, name := range files {
		open := func() (io.ReadCloser, error) { return os.Open(name) }
		if name == "-" {
			name = "(standard input)"
			open = func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
		}
		list = append(list, replay.Source{Name: name, Open: open})
	}
	return list
}

// closeTimeout is how long the last snapshot may take. A local disk is done in
// milliseconds.
const closeTimeout = 10 * time.Second

// closeEngine takes and keeps the last snapshot, also when the command was
// interrupted.
func closeEngine(e *hotcount.Engine) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return e.Close(ctx)
}

// showProgress shows on a terminal how many lines were counted, read from the
// engine itself, until the function that it returns is called. It shows nothing
// for what is done within a moment.
func showProgress(w io.Writer, tally *replay.Tally) (hide func()) {
	if !isTerminal(w) {
		return func() {}
	}
	const moment = 300 * time.Millisecond
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(moment)
		defer tick.Stop()
		start, before := time.Now(), tally.Lines()
		for {
			select {
			case <-tick.C:
				lines := tally.Lines() - before
				fmt.Fprintf(w, "\r\x1b[K%s, %s/s", text.Count(lines, "line"),
					text.Group(int64(float64(lines)/time.Since(start).Seconds())))
			case <-done:
				fmt.Fprint(w, "\r\x1b[K")
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}
