package prom

import (
	"slices"
	"strings"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
)

// A row is the place of a counter in its View, beside what the counters are
// sorted by.
type row struct {
	values string // packed by series.AppendValue
	at     int
}

// inOrder appends the rows of counters, sorted by label values. A registry
// sorts the series of each family so, in time that is most of a scrape's when
// they come in the order of the engine's hash table; those that are sorted
// already it only looks over. Here a comparison reads two strings, and there a
// chain of pointers for each label. Families may lie mixed, as the registry
// keeps them apart.
func inOrder(rows []row, counters []hotcount.CounterView) []row {
	for i := range counters {
		rows = append(rows, row{counters[i].Key().Packed(), i})
	}
	slices.SortFunc(rows, func(a, b row) int { return compareValues(a.values, b.values) })
	return rows
}

// compareValues compares packed label values, one after the other.
func compareValues(a, b string) int {
	for a != "" && b != "" {
		var v, w string
		v, a, _ = series.CutValue(a)
		w, b, _ = series.CutValue(b)
		if v != w {
			return strings.Compare(v, w)
		}
	}
	return len(a) - len(b)
}
