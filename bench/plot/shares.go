package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// maxShown bounds the stripes that are drawn one by one. More are in the table,
// as their skew.
const maxShown = 64

// shareFigures draws what each stripe took, for each implementation with results
// that have more than one stripe.
func shareFigures(s set) ([]Figure, error) {
	by := make(map[string][]*bench.Result)
	var impls []string
	for _, r := range s.results {
		if n := len(r.StripeShares); n < 2 || n > maxShown || slices.ContainsFunc(r.StripeShares, notShare) {
			continue
		}
		if by[r.Impl] == nil {
			impls = append(impls, r.Impl)
		}
		by[r.Impl] = append(by[r.Impl], r)
	}
	var figures []Figure
	for _, impl := range impls {
		f, err := shareFigure(by[impl])
		if err != nil {
			return nil, err
		}
		f.Workload = s.workload
		f.Title = fmt.Sprintf("Adds that each stripe took, as multiples of its even share: %s, %s", s, printable(impl))
		figures = append(figures, f)
	}
	return figures, nil
}

func notShare(v float64) bool { return !(v >= 0 && v <= 1) }

// shareFigure draws a row for each result.
func shareFigure(results []*bench.Result) (Figure, error) {
	slices.SortStableFunc(results, func(a, b *bench.Result) int { // from below
		return -cmp.Or(cmp.Compare(a.Stripes, b.Stripes), cmp.Compare(a.Pick, b.Pick), cmp.Compare(a.Goroutines, b.Goroutines))
	})
	most, worst := 0, results[0]
	for _, r := range results {
		most = max(most, len(r.StripeShares))
		if r.Skew() > worst.Skew() {
			worst = r
		}
	}
	columns := make([]string, most)
	for i := range columns {
		columns[i] = strconv.Itoa(i)
	}
	t := newTable(columns, each(results, shareName))
	for i, r := range results {
		for stripe, share := range r.StripeShares {
			t.cells[i][stripe] = share * float64(len(r.StripeShares))
		}
	}
	content, height, err := t.draw("stripe", "")
	return Figure{
		Text: fmt.Sprintf("A row for each result; darker stripes took more. The most uneven: %s, where the busiest stripe took %s times its even share.",
			shareName(worst), show.Short(worst.Skew())),
		width: figureWidth, height: height, content: content,
	}, err
}

func shareName(r *bench.Result) string {
	layout := "own layout"
	if r.Stripes > 0 {
		layout = count(r.Stripes, "stripe") + " " + printable(r.Pick)
	}
	return layout + ", " + count(r.Goroutines, "goroutine")
}
