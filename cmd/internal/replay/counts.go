package replay

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// families are all that is counted, in the order in which it is compared.
var families = []string{linesTotal, malformedTotal, bytesTotal, statusTotal, methodTotal, pathTotal, hourTotal}

// Limits returns limits for an engine that counts up to n paths one by one, if they
// take no more than 256 MiB or a kilobyte each.
func Limits(n int64) hotcount.Limits {
	return hotcount.Limits{
		FamilySeries: n,
		Series:       n * int64(len(families)+2), // and two of uniques
		LabelBytes:   max(256<<20, n<<10),
	}
}

// Counts is what was counted of a log, read back.
type Counts struct {
	series   map[string]map[string]int64 // by family, then by label value, "" if there is no label
	overflow map[string]int64            // by family; absent where nothing overflowed
}

func newCounts() Counts {
	c := Counts{make(map[string]map[string]int64), make(map[string]int64)}
	for _, f := range families {
		c.series[f] = make(map[string]int64)
	}
	return c
}

// Totals returns the lifetime totals: of this run and of those restored.
func Totals(e *hotcount.Engine) Counts { return collect(e.Totals()) }

// OfThisRun returns what e has counted since it started, as its snapshots have
// it.
func OfThisRun(e *hotcount.Engine) Counts {
	var s snapshot.Snapshot
	e.Snapshot(&s)
	return collect(func(yield func(series.Key, int64) bool) {
		for row := range s.AllCounters() {
			if !yield(row.Key, row.Value) {
				return
			}
		}
	})
}

func collect(rows iter.Seq2[series.Key, int64]) Counts {
	c := newCounts()
	for key, n := range rows {
		series, ours := c.series[key.Name()]
		if !ours {
			continue
		}
		if hotcount.IsOverflow(key) {
			c.overflow[key.Name()] += n
			continue
		}
		value := "" // of the one label, if there is one
		for _, value = range key.Labels() {
		}
		series[value] += n
	}
	return c
}

// A Verification is the outcome of comparing a run with an exact count.
type Verification struct {
	Series      int      `json:"series"`                // that were compared
	Different   int      `json:"different"`             // of them
	Differences []string `json:"differences,omitempty"` // the first few, in words

	Clients *ClientsError `json:"unique_clients,omitempty"` // nil when earlier runs are part of the estimate
}

// maxDifferences is how many differences are put in words.
const maxDifferences = 10

// Err returns an error if anything differs.
func (v *Verification) Err() error {
	if v.Different == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d series differ from an exact count", v.Different, v.Series)
}

// Verify compares what an engine counted with the exact counts. Every series
// must be equal. Where a family overflowed, the overflow series must hold
// exactly what the series that are missing add up to.
func Verify(got, exact Counts) Verification {
	var v Verification
	for _, family := range families {
		var missing int
		var rest int64
		for _, value := range slices.Sorted(maps.Keys(exact.series[family])) {
			want := exact.series[family][value]
			n, ok := got.series[family][value]
			switch {
			case !ok:
				missing++
				rest += want
			case n != want:
				v.differ("%s: the engine counted %d, exactly it is %d", seriesName(family, value), n, want)
			}
			v.Series++
		}
		for _, value := range slices.Sorted(maps.Keys(got.series[family])) {
			if _, ok := exact.series[family][value]; !ok {
				v.differ("%s: the engine counted %d, exactly there is none", seriesName(family, value), got.series[family][value])
			}
		}
		if n := got.overflow[family]; n != rest {
			v.differ("%s: the engine's overflow series has %d, the %d series that it lacks add up to %d", family, n, missing, rest)
		}
	}
	return v
}

func (v *Verification) differ(format string, args ...any) {
	v.Different++
	if len(v.Differences) < maxDifferences {
		v.Differences = append(v.Differences, fmt.Sprintf(format, args...))
	}
}

func seriesName(family, value string) string {
	if value == "" {
		return family
	}
	return fmt.Sprintf("%s %q", family, value)
}
