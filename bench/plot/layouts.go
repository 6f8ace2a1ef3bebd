package plot

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// layoutFigures draws stripes by goroutines, a heat map for each implementation
// and pick that was measured with a number of stripes.
func layoutFigures(s set) ([]Figure, error) {
	type layout struct{ impl, pick string }
	by := make(map[layout][]*bench.Result)
	var order []layout
	for _, r := range s.results {
		if r.Stripes == 0 {
			continue
		}
		l := layout{r.Impl, r.Pick}
		if by[l] == nil {
			order = append(order, l)
		}
		by[l] = append(by[l], r)
	}
	var figures []Figure
	for _, l := range order {
		stripes, goroutines := make(map[int]bool), make(map[int]bool)
		for _, r := range by[l] {
			stripes[r.Stripes], goroutines[r.Goroutines] = true, true
		}
		if len(stripes) < 2 {
			continue
		}
		f, err := layoutFigure(by[l], slices.Sorted(maps.Keys(stripes)), slices.Sorted(maps.Keys(goroutines)))
		if err != nil {
			return nil, err
		}
		f.Workload = s.workload
		f.Title = fmt.Sprintf("Million operations per second by stripes and goroutines: %s, %s, pick %s",
			s, printable(l.impl), printable(l.pick))
		figures = append(figures, f)
	}
	return figures, nil
}

func layoutFigure(results []*bench.Result, stripes, goroutines []int) (Figure, error) {
	t := newTable(each(goroutines, grouped[int]), each(stripes, grouped[int]))
	var best *bench.Result
	var most float64
	for _, r := range results {
		v, _ := speed(r)
		row, _ := slices.BinarySearch(stripes, r.Stripes)
		column, _ := slices.BinarySearch(goroutines, r.Goroutines)
		t.cells[row][column] = v.Median
		if best == nil || v.Median > most {
			best, most = r, v.Median
		}
	}
	content, height, err := t.draw("goroutines", "stripes")
	return Figure{
		Text: fmt.Sprintf("Medians; darker is faster. The fastest of these is %s with %s: %s million per second.",
			count(best.Stripes, "stripe"), count(best.Goroutines, "goroutine"), show.Short(most)),
		width: figureWidth, height: height, content: content,
	}, err
}

func each[T any](list []T, format func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = format(v)
	}
	return out
}
