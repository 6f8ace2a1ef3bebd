package web

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot"
)

// maxVars is how many series an expvar shows: it is one string in memory, usually
// a megabyte of it.
const maxVars = 10_000

// Var returns an engine as a value for expvar.Publish: a JSON object with a
// number for each series under its key, as expvar.Map has it. A counter's number
// is its total, that of distinct elements their estimate; the engine's own
// series and the gauges of the given middlewares are in it, windows are not.
//
// Only the first 10,000 series in the order of their keys are there, and fewer if
// their keys would take more than 8 MiB. If there are more, so is
// hotcount_vars_truncated, which is 1; Handler shows the rest.
//
// This package does not import expvar, which would serve /debug/vars on
// http.DefaultServeMux in every program that uses it.
func Var(e *hotcount.Engine, m ...*Middleware) fmt.Stringer {
	return variable{newSource(e, m)}
}

type variable struct{ source *source }

// String returns the JSON object. It is always valid.
func (v variable) String() string {
	p, err := v.source.page(context.Background(), query{limit: maxVars})
	if err != nil {
		panic(err) // cannot happen: the context does not end
	}
	numbers := make([]string, 0, len(p.items)+1)
	for _, it := range p.items {
		if n := it.number(); n != "" {
			key, _ := json.Marshal(it.key) // the error is always nil for a string
			numbers = append(numbers, string(key)+": "+n)
		}
	}
	if p.next != "" {
		numbers = append(numbers, `"hotcount_vars_truncated": 1`)
	}
	return "{" + strings.Join(numbers, ", ") + "}"
}

// number returns the one number that stands for a series in JSON, "" if there is
// none.
func (it item) number() string {
	switch what := it.what.(type) {
	case hotcount.CounterView:
		return strconv.FormatInt(what.Value(), 10)
	case leftover:
		return strconv.FormatInt(what.total, 10)
	case *hotcount.Uniques:
		return strconv.FormatUint(what.Estimate().Count, 10)
	case snapshot.CounterRow:
		return strconv.FormatInt(what.Value, 10)
	case snapshot.GaugeRow:
		if !math.IsNaN(what.Value) && !math.IsInf(what.Value, 0) {
			return strconv.FormatFloat(what.Value, 'g', -1, 64)
		}
	}
	return ""
}
