package bench

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hotcount/hotcount/stripe"
)

// A full plan is every combination that the documentation lists, once.
func TestPlanFull(t *testing.T) {
	const procs = 3
	want := make(map[string]bool)
	for _, w := range Workloads() {
		for _, impl := range w.Impls {
			for _, g := range []int{1, 3, 12, 4096} {
				for _, reads := range []int{0, 1, 10} {
					if reads > 0 && (!w.Reads || impl.Unreadable) {
						continue
					}
					for _, k := range w.Keys {
						c := Case{Workload: w.Name, Impl: impl, Goroutines: g, ReadPercent: reads, Keys: k}
						want[c.Name()] = true
						for _, n := range []int{1, 2, 4, 8, 16} {
							for p := stripe.Auto; p <= stripe.Random && impl.Striped; p++ {
								c.Stripes, c.Pick = n, p
								want[c.Name()] = true
							}
						}
					}
				}
			}
		}
	}
	got := names(Plan(Workloads(), procs, Full))
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(got)))
	assert.Contains(t, got, "add/impl=hotcount/stripes=16/pick=PerP/goroutines=12/reads=10/keys=zipf")
}

func names(cases []Case) []string {
	var all []string
	for i := range cases {
		all = append(all, cases[i].Name())
	}
	return all
}

// Each plan is part of the next and has every implementation; the usual one has the
// whole map of stripes by goroutines.
func TestPlansContainEachOther(t *testing.T) {
	for procs := 1; procs <= 8; procs++ {
		plan := func(e Extent) []Case { return Plan(Workloads(), procs, e) }
		assert.Subset(t, names(plan(Full)), names(plan(Usual)))
		assert.Subset(t, names(plan(Usual)), names(plan(Quick)))
		assert.Less(t, len(plan(Usual)), len(plan(Full)))
		assert.Less(t, len(plan(Quick)), len(plan(Usual)))
		for _, e := range []Extent{Quick, Usual} {
			impls := make(map[string]bool)
			for _, c := range plan(e) {
				impls[c.Workload+c.Impl.Name] = true
			}
			for _, w := range Workloads() {
				for _, impl := range w.Impls {
					assert.True(t, impls[w.Name+impl.Name])
				}
			}
		}
		cells := make(map[[2]int]bool)
		for _, c := range plan(Usual) {
			if c.Pick == stripe.PerP && c.Stripes > 0 {
				cells[[2]int{c.Stripes, c.Goroutines}] = true
			}
		}
		assert.Len(t, cells, len(layouts(procs))/len(picks)*len(goroutineCounts(procs)))
	}
}

// Names are what a report may hold.
func TestPlanNames(t *testing.T) {
	for _, c := range Plan(Workloads(), 192, Full) {
		r := c.result()
		r.OpsPerSecond = []float64{1}
		assert.NoError(t, r.validate())
	}
}

// Groups divide the cases, by equal conditions.
func TestGroups(t *testing.T) {
	cases := Plan(Workloads(), 2, Usual)
	var all []int
	seen := make(map[conditions]bool)
	for _, g := range groups(cases) {
		key := cases[g[0]].conditions()
		assert.False(t, seen[key])
		seen[key] = true
		for _, i := range g {
			assert.Equal(t, key, cases[i].conditions())
		}
		all = append(all, g...)
	}
	slices.Sort(all)
	for i := range cases {
		assert.Equal(t, i, all[i])
	}
	assert.Len(t, all, len(cases))
}

func TestGoroutineCounts(t *testing.T) {
	assert.Equal(t, []int{1, 4, 4096}, goroutineCounts(1))
	assert.Equal(t, []int{1, 2, 8, 4096}, goroutineCounts(2))
	assert.Equal(t, []int{1, 1024, 4096}, goroutineCounts(1024))
}
