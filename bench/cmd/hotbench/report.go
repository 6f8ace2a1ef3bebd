package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/benchtext"
	"github.com/hotcount/hotcount/bench/plot"
	"github.com/hotcount/hotcount/internal/cli"
)

func reportVerb(_ context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	var out output
	out.define(fs)
	files, err := v.Parse(fs, s, args)
	switch {
	case err != nil:
		return err
	case len(files) != 1:
		return cli.Usagef("one file is wanted, not %d; - is standard input", len(files))
	}
	report, err := read(files[0], s.In)
	if err != nil {
		return err
	}
	return out.write(s.Out, report)
}

// read reads the report in the file of that name.
func read(name string, stdin io.Reader) (*bench.Report, error) {
	if name == "-" {
		return bench.Decode(stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report, err := bench.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return report, nil
}

// An output says in which forms a report is wanted.
type output struct {
	asJSON bool
	files  []formFile
}

// A formFile is a file to write a report to, in one of its forms.
type formFile struct {
	path  *string
	write func(*bench.Report, io.Writer) error
}

func (o *output) define(fs *flag.FlagSet) {
	fs.BoolVar(&o.asJSON, "json", false, "print JSON")
	o.files = []formFile{
		{fs.String("csv", "", "also write a `FILE` with a row for each case"), (*bench.Report).WriteCSV},
		{fs.String("benchstat", "", "also write a `FILE` for benchstat"), (*bench.Report).WriteBench},
		{fs.String("html", "", "also write a `FILE` with charts and tables, for a browser"), writeHTML},
	}
}

// write shows the report, and writes the files that were asked for.
func (o *output) write(w io.Writer, r *bench.Report) error {
	var errs []error
	for _, f := range o.files {
		if *f.path != "" {
			errs = append(errs, writeFile(*f.path, r, f.write))
		}
	}
	if o.asJSON {
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
