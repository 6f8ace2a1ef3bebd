// Package replay counts access logs with the engine.
//
//	sources ──Reader──▶ batches ──▶ worker ──Parse──▶ counter (Tally: the engine)
//	             ▲                  worker                    (Exact: maps and a mutex)
//	             └────── buffers ◀─── …
//
// One goroutine reads and cuts; the workers parse and count. Buffers go round:
// there are two for each worker and no more, so a slow worker slows the reader
// down and memory stays bounded whatever the log.
//
// A line is counted under one status, one method, one path and one hour, so
// each of these families adds up to the well-formed lines. Which worker gets a
// line is up to the scheduler; no figure depends on it, save which paths come
// first when a family is full.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/hotcount/hotcount/cmd/internal/accesslog"
)

// A Source is a log to read.
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// A Malformed is a line that could not be read.
type Malformed struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Reason string `json:"reason"`
}

// maxMalformed is how many malformed lines are named. A log of another format
// has millions; the first few show what is wrong.
const maxMalformed = 5

// A counter takes lines, in one goroutine.
type counter interface {
	line(*accesslog.Record)
	malformed()
	flush() // what was held back
}

// Run counts the lines of all sources into tally, and into exact if that is not
// nil, with the given number of workers. It returns the first few malformed
// lines in the order of sources and lines.
//
// A source that fails does not keep the others from being counted, nor what was
// read of it before. The error names every source that failed, and ctx's error
// if that ended the reading early.
func Run(ctx context.Context, sources []Source, workers int, tally *Tally, exact *Exact) ([]Malformed, error) {
	return run(ctx, sources, workers, func() counter {
		if exact == nil {
			return tally.worker()
		}
		return both{tally.worker(), exact}
	})
}

type both [2]counter

func (b both) line(r *accesslog.Record) {
	b[0].line(r)
	b[1].line(r)
}

func (b both) malformed() {
	b[0].malformed()
	b[1].malformed()
}

func (b both) flush() {
	b[0].flush()
	b[1].flush()
}

// A job is one batch of one source.
type job struct {
	source int
	accesslog.Batch
}

func run(ctx context.Context, sources []Source, workers int, newCounter func() counter) ([]Malformed, error) {
	buffers := make(chan []byte, 2*workers)
	for range cap(buffers) {
		buffers <- nil // ReadBatch makes them
	}
	jobs := make(chan job, workers)

	crew := make([]worker, workers)
	var wg sync.WaitGroup
	for i := range crew {
		wg.Go(func() { crew[i].work(jobs, buffers, newCounter()) })
	}
	var errs []error
	for i, s := range sources {
		if ctx.Err() != nil {
			break
		}
		if err := read(ctx, i, s, jobs, buffers); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, bare(err)))
		}
	}
	close(jobs)
	wg.Wait()
	if ctx.Err() != nil {
		errs = append(errs, fmt.Errorf("stopped before the end: %w", context.Cause(ctx)))
	}
	return firstMalformed(crew, sources), errors.Join(errs...)
}

// read cuts one source into jobs until it ends or ctx is done.
func read(ctx context.Context, source int, s Source, jobs chan<- job, buffers chan []byte) error {
	src, err := s.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	r := accesslog.NewReader(src)
	for ctx.Err() == nil {
		buf := <-buffers
		batch, err := r.ReadBatch(buf)
		if err != nil {
			buffers <- buf
			if err == io.EOF {
				return nil
			}
			return err
		}
		jobs <- job{source, batch}
	}
	return nil
}

// bare takes the file name, which the caller adds, out of err.
func bare(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// A worker parses and counts jobs. Jobs reach it in the order in which they
// were read, so the first malformed lines that it sees are its first.
type worker struct {
	malformed []place
}

// A place is where a malformed line was and why it is one.
type place struct {
	source int
	line   int64
	err    error
}

func (w *worker) work(jobs <-chan job, buffers chan<- []byte, c counter) {
	var r accesslog.Record
	for j := range jobs {
		for number, line := range j.Lines() {
			if err := r.Parse(line); err != nil {
				c.malformed()
				if len(w.malformed) < maxMalformed {
					w.malformed = append(w.malformed, place{j.source, number, err})
				}
				continue
			}
			c.line(&r)
		}
		c.flush()
		if cap(j.Data) > 2*accesslog.BatchSize { // grew for a long line
			j.Data = nil
		}
		buffers <- j.Data
	}
}

func firstMalformed(crew []worker, sources []Source) []Malformed {
	var all []place
	for _, w := range crew {
		all = append(all, w.malformed...)
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.line, b.line))
	})
	var first []Malformed
	for _, p := range all[:min(len(all), maxMalformed)] {
		first = append(first, Malformed{sources[p.source].Name, p.line, p.err.Error()})
	}
	return first
}
