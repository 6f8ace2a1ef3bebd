package live

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
)

// A query is what one browser wants to see. Equal ones are answered together.
type query struct {
	words string // in small letters, a space between; all must be in a series' text
	by    string // what rows are sorted by
}

// The orders that there are.
const (
	byRate  = "rate"
	byTotal = "total"
	byName  = "name"
)

// maxQuery bounds what is searched for, in bytes.
const maxQuery = 200

func parseQuery(values url.Values) (q query, ok bool) {
	text := values.Get("q")
	if len(text) > maxQuery {
		return query{}, false
	}
	lower := []byte(text)
	lowerASCII(lower)
	q = query{strings.Join(strings.Fields(string(lower)), " "), cmp.Or(values.Get("by"), byRate)}
	return q, orders[q.by] != nil
}

// lowerASCII makes capital letters small. It knows those of ASCII only, which
// any bytes can be searched for.
func lowerASCII(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}

// A matcher tells which series a query selects.
type matcher struct {
	words [][]byte
	text  []byte // reused
}

func (q query) matcher() *matcher {
	m := new(matcher)
	for w := range strings.FieldsSeq(q.words) {
		m.words = append(m.words, []byte(w))
	}
	return m
}

// match reports whether all words are in the text of k, in capital letters or
// small ones.
func (m *matcher) match(k series.Key) bool {
	if len(m.words) == 0 {
		return true
	}
	m.text = k.AppendText(m.text[:0])
	lowerASCII(m.text)
	for _, w := range m.words {
		if !bytes.Contains(m.text, w) {
			return false
		}
	}
	return true
}

// A candidate is a counter that may be shown.
type candidate struct {
	*hotcount.CounterView
	total int64
	rate  float64
}

// orders compares candidates by what they are sorted by: the first comes first.
// Names are compared last, since that takes longest.
var orders = map[string]func(a, b candidate) int{byRate: compareRates, byTotal: compareTotals, byName: compareNames}

func compareRates(a, b candidate) int {
	if a.rate != b.rate {
		return cmp.Compare(b.rate, a.rate)
	}
	return compareTotals(a, b)
}

func compareTotals(a, b candidate) int {
	if a.total != b.total {
		return cmp.Compare(b.total, a.total)
	}
	return a.Key().Compare(b.Key())
}

func compareNames(a, b candidate) int { return compareText(a.Key(), b.Key()) }

// compareText compares keys as people read them, where Key.Compare puts a short
// value before a long one.
func compareText(a, b series.Key) int {
	var x, y [128]byte // on the stack
	return bytes.Compare(a.AppendText(x[:0]), b.AppendText(y[:0]))
}

// A top holds the first n of what it was given.
type top[T any] struct {
	n       int
	compare func(a, b T) int
	items   []T // sorted
}

func (t *top[T]) add(item T) {
	if len(t.items) == t.n && t.compare(item, t.items[t.n-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(t.items, item, t.compare)
	t.items = slices.Insert(t.items, at, item)
	if len(t.items) > t.n {
		t.items = t.items[:t.n]
	}
}
