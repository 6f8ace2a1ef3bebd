// Package truth reads totals from another source than the counts themselves.
package truth

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
)

// A Table is what a source of truth says, one row a series.
type Table struct{ Rows []Row }

// A Row is the right total of a series.
type Row struct {
	Key   series.Key // canonical
	Total int64
}

// header is a first record that may be there.
var header = [...]string{"series", "total"}

// Read reads CSV (RFC 4180) of two fields a record: the text form of a series
// and its total.
//
//	series,total
//	jobs_total,12
//	"http_requests_total{code=""200"",method=""GET""}",345
//
// name is for errors, which say the line, too.
func Read(name string, r io.Reader) (*Table, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(header)
	in.ReuseRecord = true
	t := new(Table)
	lines := make(map[string]int) // by series
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if first && slices.Equal(record, header[:]) {
			continue
		}
		line, _ := in.FieldPos(0)
		row, err := parse(record)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, line, err)
		}
		text := row.Key.String()
		if before, twice := lines[text]; twice {
			return nil, fmt.Errorf("%s: line %d: %.200q is on line %d already", name, line, text, before)
		}
		lines[text] = line
		t.Rows = append(t.Rows, row)
	}
}

func parse(record []string) (Row, error) {
	k, err := series.ParseKey(record[0])
	if err != nil {
		return Row{}, err
	}
	k = Canonical(k)
	switch {
	case hotcount.IsHealth(k):
		return Row{}, fmt.Errorf("%.200q is a series of the engine itself", record[0])
	case hotcount.IsOverflow(k):
		return Row{}, fmt.Errorf("%.200q holds the counts of many series, and so has no truth", record[0])
	}
	total, err := strconv.ParseInt(record[1], 10, 64)
	if err != nil {
		return Row{}, fmt.Errorf("total %.40q is no integer of 64 bits; a first line of names, if any, is %s", record[1], strings.Join(header[:], ","))
	}
	return Row{k, total}, nil
}

// Canonical returns the key with its labels in the order of their names, as the
// engine has them.
func Canonical(k series.Key) series.Key {
	labels := slices.Collect(k.Desc().Labels())
	if slices.IsSorted(labels) {
		return k
	}
	slices.Sort(labels)
	values := make([]string, len(labels))
	for i, l := range labels {
		values[i] = k.Label(l)
	}
	d, err := series.NewDesc(k.Name(), labels...)
	if err != nil {
		panic(err) // they are those of a Desc
	}
	return d.Key(values...)
}
