package hotcount

import (
	"fmt"
	"slices"

	"github.com/hotcount/hotcount/series"
)

// lookUp returns the series of a metric with these alternating label names and
// values.
func (e *Engine) lookUp(k kind, name string, pairs []string) *entry {
	var buf [series.MaxLabels]uint8
	f, order := e.resolve(k, name, pairs, buf[:0])
	return f.get(pairs, order)
}

// resolve returns the family of a metric, and appends to order where in pairs
// the value of each of its labels is.
func (e *Engine) resolve(k kind, name string, pairs []string, order []uint8) (*family, []uint8) {
	if len(pairs)%2 != 0 {
		panic(fmt.Sprintf("hotcount: metric %s: label %q has no value", name, pairs[len(pairs)-1]))
	}
	f := e.findFamily(name)
	if f == nil {
		f = e.family(k, name, labelNames(pairs))
	}
	order, ok := f.orderPairs(order, pairs)
	if !ok || f.kind != k {
		f.check(k, labelNames(pairs))
	}
	return f, order
}

func labelNames(pairs []string) []string {
	names := make([]string, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		names = append(names, pairs[i])
	}
	return names
}

// orderPairs appends where in pairs the value of each of the family's labels
// is. It reports false if pairs does not hold just these labels.
func (f *family) orderPairs(order []uint8, pairs []string) ([]uint8, bool) {
	labels := f.labels
	if len(pairs) != 2*len(labels) {
		return order, false
	}
	for i, l := range labels {
		at := 2 * i // where it is if the caller sorts them too
		if pairs[at] != l {
			for at = 0; at < len(pairs) && pairs[at] != l; at += 2 {
			}
			if at == len(pairs) {
				return order, false
			}
		}
		order = append(order, uint8(at+1)) // at most 2*series.MaxLabels
	}
	return order, true
}

// A vec is a family with its caller's order of label names.
type vec struct {
	f     *family
	order []uint8 // where in with's values each of the family's labels is
}

func (e *Engine) vec(k kind, name string, labels []string) vec {
	f := e.family(k, name, labels)
	order := make([]uint8, len(labels))
	for i, l := range f.labels {
		order[i] = uint8(slices.Index(labels, l)) // less than series.MaxLabels
	}
	return vec{f, order}
}

func (v *vec) with(values []string) *entry {
	if len(values) != len(v.order) {
		v.miscounted(values)
	}
	return v.f.get(values, v.order)
}

func (v *vec) miscounted(values []string) {
	got := slices.Concat(values) // a copy, so that the caller's need not escape
	panic(fmt.Sprintf("hotcount: %s has %d labels, got %d values: %q", v.f.desc.Name(), len(v.order), len(got), got))
}
