package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/lifetime"
	"github.com/hotcount/hotcount/cmd/internal/truth"
	"github.com/hotcount/hotcount/internal/cli"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/series"
)

// maxShown is how much of a series the tables show, in characters.
const maxShown = 120

// A reconciliation is what reconcile prints.
type reconciliation struct {
	Compared int     `json:"compared"` // series of the source of truth
	Unknown  int     `json:"unknown"`  // series of the directory that it does not have
	Hidden   int     `json:"hidden"`   // series that are not there by themselves, but perhaps in an overflow series
	Drifts   []drift `json:"drifts"`
	Adjusted bool    `json:"adjusted"` // every drift has been booked
}

type drift struct {
	Series     string `json:"series"`
	Counted    int64  `json:"counted"`
	Truth      int64  `json:"truth"`
	Adjustment int64  `json:"adjustment"`
}

func reconcileVerb(_ context.Context, s cli.Streams, v cli.Verb, args []string) error {
	fs := v.Flags()
	asJSON := fs.Bool("json", false, "print JSON")
	adjust := fs.Bool("adjust", false, "book the differences, so that the totals become the truth")
	rest, err := v.Parse(fs, s, args)
	if err != nil {
		return err
	}
	if len(rest) != 2 {
		return cli.Usagef("a directory and a CSV file are wanted; - is standard input")
	}
	want, err := readTruth(rest[1], s.In)
	if err != nil {
		return err
	}
	result, err := reconcile(rest[0], want, *adjust)
	if result == nil {
		return err
	}
	if *asJSON {
		return errors.Join(err, cli.WriteJSON(s.Out, result))
	}
	return errors.Join(err, result.writeTable(s.Out))
}

func readTruth(name string, stdin io.Reader) (*truth.Table, error) {
	if name == "-" {
		return truth.Read("(standard input)", stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return truth.Read(name, f)
}

// reconcile compares, and books if it is to. Without booking the directory is
// only read, and may be in use. The error says that there are differences left.
func reconcile(dir string, want *truth.Table, adjust bool) (*reconciliation, error) {
	if !adjust {
		totals, err := lifetime.Load(dir)
		if err != nil {
			return nil, err
		}
		result, _ := compare(totals.All(), want)
		if n := len(result.Drifts); n > 0 {
			return result, fmt.Errorf("%d of %d series differ from the truth", n, result.Compared)
		}
		return result, nil
	}
	if _, err := os.Stat(dir); err != nil { // an engine would make it
		return nil, err
	}
	// Only what is adjusted is made, and all of that.
	e, err := hotcount.New(hotcount.Options{Dir: dir, Limits: hotcount.Limits{
		FamilySeries: math.MaxInt64, Series: math.MaxInt64, LabelBytes: math.MaxInt64,
	}})
	if err != nil {
		return nil, err
	}
	result, drifts := compare(e.Totals(), want)
	err = book(e, drifts)
	result.Adjusted = err == nil
	return result, errors.Join(err, closeEngine(e))
}

func book(e *hotcount.Engine, drifts []hotcount.Drift) error {
	var errs []error
	for _, d := range drifts {
		errs = append(errs, e.Adjust(d))
	}
	return errors.Join(errs...)
}

// compare finds what differs. A series that only the truth has is counted as 0,
// unless its family has an overflow series, where its count may be.
func compare(totals iter.Seq2[series.Key, int64], want *truth.Table) (*reconciliation, []hotcount.Drift) {
	counted := make(map[string]int64)
	full := make(map[string]bool) // families
	result := &reconciliation{Drifts: []drift{}}
	known := 0
	for k, n := range totals {
		switch {
		case hotcount.IsHealth(k):
		case hotcount.IsOverflow(k):
			full[k.Name()] = true
		default:
			counted[truth.Canonical(k).String()] += n
		}
	}
	var drifts []hotcount.Drift
	for _, row := range want.Rows {
		n, found := counted[row.Key.String()]
		if found {
			known++
		}
		switch {
		case !found && full[row.Key.Name()]:
			result.Hidden++
		case n != row.Total:
			drifts = append(drifts, hotcount.Drift{Key: row.Key, Counted: n, Truth: row.Total})
		}
	}
	slices.SortFunc(drifts, func(a, b hotcount.Drift) int { return a.Key.Compare(b.Key) })
	for _, d := range drifts {
		result.Drifts = append(result.Drifts, drift{d.Key.String(), d.Counted, d.Truth, d.Adjustment()})
	}
	result.Compared = len(want.Rows) - result.Hidden
	result.Unknown = len(counted) - known
	return result, drifts
}

func (r *reconciliation) writeTable(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s series compared, %s differ; the truth lacks %s of the directory.\n", text.Group(int64(r.Compared)),
		text.Group(int64(len(r.Drifts))), text.Group(int64(r.Unknown)))
	if r.Hidden > 0 && err == nil {
		_, err = fmt.Fprintf(w, "%s more may be part of an overflow series and cannot be compared.\n", text.Group(int64(r.Hidden)))
	}
	if len(r.Drifts) == 0 || err != nil {
		return err
	}
	t := text.NewTable(">counted", ">truth", ">adjustment", "series")
	for _, d := range r.Drifts {
		t.Row(text.Group(d.Counted), text.Group(d.Truth), text.Group(d.Adjustment), safetext.Printable(d.Series, maxShown))
	}
	if err := t.Write(w, ""); err != nil || !r.Adjusted {
		return err
	}
	_, err = fmt.Fprintln(w, "All are booked. Snapshots show them as hotcount_adjustments.")
	return err
}
