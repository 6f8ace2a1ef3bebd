// Package totals reads the totals of a store and shows them.
package totals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
	"github.com/hotcount/hotcount/series"
)

const (
	// pageSize keeps a store's answers within a few megabytes.
	pageSize = 10_000

	// maxShown is how much of a series the table shows, in characters.
	maxShown = 120
)

// Totals are what a store had at a moment.
type Totals struct {
	Read     time.Time `json:"read"`
	Counters []Counter `json:"counters"`
	Uniques  []Uniques `json:"uniques"`
	Missing  []string  `json:"missing,omitempty"` // parts of the store that did not answer

	left  int  // series beyond the top
	rates bool // there is an earlier reading
}

// A Counter is the total of a series over its writers.
type Counter struct {
	Series  string   `json:"series"`
	Value   int64    `json:"value"`
	Writers int      `json:"writers"` // that are not added up yet
	Rate    *float64 `json:"per_second,omitempty"`
}

// Uniques is a distinct count over all writers.
type Uniques struct {
	Series   string `json:"series"`
	Estimate uint64 `json:"estimate"`
	Low      uint64 `json:"low"`
	High     uint64 `json:"high"`
}

// Read reads the series that a pattern selects: those whose text form or family
// it matches, where * stands for anything. The empty pattern selects all but the
// engines' own series. If a part of the store did not answer, the rest comes
// with an error.
func Read(ctx context.Context, r export.Reader, pattern string) (*Totals, error) {
	t := &Totals{Read: time.Now().UTC(), Counters: []Counter{}, Uniques: []Uniques{}}
	prefix, _, _ := strings.Cut(pattern, "*")
	counters, err := pages(ctx, r.Totals, prefix, func(c export.CounterTotal) series.Key { return c.Key })
	if err := t.partial(err); err != nil {
		return nil, err
	}
	uniques, uniquesErr := pages(ctx, r.Uniques, prefix, func(u export.UniquesTotal) series.Key { return u.Key })
	if err := t.partial(uniquesErr); err != nil {
		return nil, err
	}
	for _, c := range counters {
		if selects(pattern, c.Key) {
			t.Counters = append(t.Counters, Counter{Series: c.Key.String(), Value: c.Value, Writers: c.Writers})
		}
	}
	for _, u := range uniques {
		if selects(pattern, u.Key) {
			e := u.Sketch.Estimate()
			t.Uniques = append(t.Uniques, Uniques{u.Key.String(), e.Count, e.Low, e.High})
		}
	}
	return t, cmp.Or(err, uniquesErr)
}

// partial keeps what an error says is missing, and returns it if it says no
// such thing.
func (t *Totals) partial(err error) error {
	var p *export.PartialError
	if !errors.As(err, &p) {
		return err
	}
	t.Missing = append(t.Missing, p.Missing...)
	slices.Sort(t.Missing)
	t.Missing = slices.Compact(t.Missing)
	return nil
}

// pages reads page after page. After an error it returns what it has.
func pages[T any](ctx context.Context, page func(context.Context, export.Query) ([]T, error), prefix string, key func(T) series.Key) ([]T, error) {
	q := export.Query{Prefix: prefix, Limit: pageSize}
	var all []T
	for {
		rows, err := page(ctx, q)
		all = append(all, rows...)
		if err != nil || len(rows) < q.Limit {
			return all, err
		}
		q.After = key(rows[len(rows)-1])
	}
}

func selects(pattern string, k series.Key) bool {
	if pattern == "" {
		return !hotcount.IsHealth(k)
	}
	return match(pattern, k.Name()) || match(pattern, k.String())
}

// match reports whether s is pattern, in which each * stands for any bytes.
func match(pattern, s string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, first)
	if !ok {
		return false
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part) // the first is as good as any
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], after
	}
}

// Top leaves only the n greatest counters and distinct counts, the greatest
// first, unless n is 0.
func (t *Totals) Top(n int) {
	if n == 0 {
		return
	}
	slices.SortStableFunc(t.Counters, func(a, b Counter) int { return cmp.Compare(b.Value, a.Value) })
	slices.SortStableFunc(t.Uniques, func(a, b Uniques) int { return cmp.Compare(b.Estimate, a.Estimate) })
	all := len(t.Counters) + len(t.Uniques)
	t.Counters = t.Counters[:min(n, len(t.Counters))]
	t.Uniques = t.Uniques[:min(n, len(t.Uniques))]
	t.left = all - len(t.Counters) - len(t.Uniques)
}

// Since fills in the rates since an earlier reading, nil if there is none.
func (t *Totals) Since(before *Totals) {
	if before == nil {
		return
	}
	t.rates = true
	seconds := t.Read.Sub(before.Read).Seconds()
	values := make(map[string]int64, len(before.Counters))
	for _, c := range before.Counters {
		values[c.Series] = c.Value
	}
	for i, c := range t.Counters {
		if value, ok := values[c.Series]; ok && seconds > 0 {
			rate := float64(c.Value-value) / seconds
			t.Counters[i].Rate = &rate
		}
	}
}

// WriteTable writes the totals for people.
func (t *Totals) WriteTable(w io.Writer) error {
	var b strings.Builder
	t.counters().Write(&b, "") // no error: it is memory
	if len(t.Uniques) > 0 {
		table := text.NewTable(">distinct", ">low", ">high", "series")
		for _, u := range t.Uniques {
			table.Row(text.Group(int64(u.Estimate)), text.Group(int64(u.Low)), text.Group(int64(u.High)), safetext.Printable(u.Series, maxShown))
		}
		b.WriteByte('\n')
		table.Write(&b, "")
	}
	if t.left > 0 {
		fmt.Fprintf(&b, "and %s series\n", text.Group(int64(t.left)))
	}
	for _, m := range t.Missing {
		fmt.Fprintf(&b, "No answer: %s\n", safetext.Printable(m, maxShown))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Totals) counters() *text.Table {
	headings := []string{">total", ">writers", "series"}
	if t.rates {
		headings = slices.Insert(headings, 1, ">per second")
	}
	table := text.NewTable(headings...)
	for _, c := range t.Counters {
		row := []string{text.Group(c.Value), fmt.Sprint(c.Writers), safetext.Printable(c.Series, maxShown)}
		if t.rates {
			rate := ""
			if c.Rate != nil {
				rate = text.Group(int64(*c.Rate))
			}
			row = slices.Insert(row, 1, rate)
		}
		table.Row(row...)
	}
	return table
}
