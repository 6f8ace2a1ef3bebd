package bench

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/hotcount/hotcount/stripe"
)

// A Case is one thing to measure: an implementation at work in one way.
type Case struct {
	Workload    string
	Impl        Impl
	Stripes     int // of the implementation, if it is Striped; see Layout
	Pick        stripe.Pick
	Goroutines  int
	ReadPercent int
	Keys        Keys

	weighs func(keys int) int
}

// Name returns the name that the case's Result has.
func (c *Case) Name() string {
	r := c.result()
	return r.Name()
}

// result returns a result of the case, without figures.
func (c *Case) result() Result {
	r := Result{
		Workload:    c.Workload,
		Impl:        c.Impl.Name,
		Stripes:     c.Stripes,
		Goroutines:  c.Goroutines,
		ReadPercent: c.ReadPercent,
		Keys:        c.Keys.String(),
	}
	if c.Impl.Striped {
		r.Pick = c.Pick.String()
	}
	return r
}

// layout returns what Impl.New is asked for.
func (c *Case) layout() Layout {
	return Layout{Keys: c.Keys.count(), Stripes: c.Stripes, Pick: c.Pick}
}

// conditions are what cases have in common that are to be compared.
type conditions struct {
	workload    string
	goroutines  int
	readPercent int
	keys        Keys
}

func (c *Case) conditions() conditions {
	return conditions{c.Workload, c.Goroutines, c.ReadPercent, c.Keys}
}

// manyGoroutines is what a busy server has.
const manyGoroutines = 4096

// picks are the rules to compare, the one for the heat map of stripes first.
var picks = []stripe.Pick{stripe.PerP, stripe.PerGoroutine, stripe.Random, stripe.Auto}

// An Extent says how many cases a plan has.
type Extent uint8

const (
	// Quick has the usual case of each workload alone, and for the first
	// workload that with one goroutine and with fixed numbers of stripes.
	Quick Extent = iota

	// Usual departs from the usual case along one line at a time, but for
	// stripes by goroutines.
	Usual

	// Full has every combination.
	Full
)

// Plan returns the cases for the workloads at so many Ps, in a fixed order. The
// usual case of a workload has a goroutine for each P, no reads, the counter
// that chooses its own layout, and the workload's first choice of keys. A full
// plan has every combination of
//
//	stripes     the counter's own choice, 1, 2, 4, … up to at least 4 a P
//	picks       every one, for a fixed number of stripes
//	goroutines  1, one for each P, four for each, 4,096
//	reads       0, 1 and 10 %
//	keys        one counter, Zipf and uniform over a thousand
//
// and the others are part of it.
func Plan(workloads []Workload, procs int, e Extent) []Case {
	var cases []Case
	seen := make(map[string]bool)
	for i, w := range workloads {
		for _, impl := range w.Impls {
			for _, c := range w.cases(impl, procs, e, i == 0) {
				if name := c.Name(); !seen[name] {
					seen[name] = true
					cases = append(cases, c)
				}
			}
		}
	}
	return cases
}

// axes are the values that a plan goes through.
type axes struct {
	layouts    []Layout
	goroutines []int
	reads      []int
	keys       []Keys
}

func (w *Workload) cases(impl Impl, procs int, e Extent, first bool) []Case {
	whole := axes{
		layouts:    []Layout{{}},
		goroutines: goroutineCounts(procs),
		reads:      []int{0},
		keys:       w.Keys,
	}
	if impl.Striped {
		whole.layouts = append(whole.layouts, layouts(procs)...)
	}
	if w.Reads && !impl.Unreadable {
		whole.reads = []int{0, 1, 10}
	}
	if e == Full {
		return w.product(impl, whole)
	}
	usual := axes{[]Layout{{}}, []int{procs}, []int{0}, w.Keys[:1]}
	var cases []Case
	depart := func(along func(a *axes)) {
		a := usual
		along(&a)
		cases = append(cases, w.product(impl, a)...)
	}
	rare := func(l Layout) bool { return l.Pick != picks[0] && l.Stripes != roundUp(procs) }
	if e == Quick {
		depart(func(*axes) {})
		if first {
			depart(func(a *axes) { a.goroutines = []int{1} })
			depart(func(a *axes) { a.layouts = slices.DeleteFunc(whole.layouts, rare) })
		}
		return cases
	}
	depart(func(a *axes) { a.goroutines = whole.goroutines })
	depart(func(a *axes) { a.reads = whole.reads })
	depart(func(a *axes) { a.keys = whole.keys })
	depart(func(a *axes) {
		a.goroutines = whole.goroutines
		a.layouts = slices.DeleteFunc(whole.layouts, rare)
	})
	return cases
}

// product returns the cases of every combination.
func (w *Workload) product(impl Impl, a axes) []Case {
	var cases []Case
	for _, l := range a.layouts {
		for _, g := range a.goroutines {
			for _, reads := range a.reads {
				for _, k := range a.keys {
					cases = append(cases, Case{
						Workload: w.Name, Impl: impl, Stripes: l.Stripes, Pick: l.Pick,
						Goroutines: g, ReadPercent: reads, Keys: k, weighs: w.Weighs,
					})
				}
			}
		}
	}
	return cases
}

// goroutineCounts returns 1, procs, four times that, and many.
func goroutineCounts(procs int) []int {
	counts := []int{1, procs, 4 * procs, manyGoroutines}
	slices.Sort(counts)
	return slices.Compact(counts)
}

// layouts returns powers of two of stripes, up to four for each P, with every
// pick.
func layouts(procs int) []Layout {
	var all []Layout
	for n := 1; n <= roundUp(4*procs); n *= 2 {
		for _, p := range picks {
			all = append(all, Layout{Stripes: n, Pick: p})
		}
	}
	return all
}

// roundUp returns the smallest power of two that is at least n, for n ≥ 1.
func roundUp(n int) int { return 1 << bits.Len(uint(n-1)) }

// groups returns the numbers of cases, those with equal conditions together, by
// the first of each.
func groups(cases []Case) [][]int {
	by := make(map[conditions][]int)
	for i := range cases {
		key := cases[i].conditions()
		by[key] = append(by[key], i)
	}
	all := make([][]int, 0, len(by))
	for _, g := range by {
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return all
}
