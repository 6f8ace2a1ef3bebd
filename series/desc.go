package series

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unique"
)

// ErrName is wrapped by every error about a metric or label name.
var ErrName = errors.New("hotcount/series: invalid name")

// MaxLabels is the most label names a family may have. It bounds what a
// decoder must reserve for a family that a stranger describes.
const MaxLabels = 64

// A Desc describes a family: the name and the label names that its series
// share. Descs of equal content are equal with ==, wherever they were made, and
// copies cost a pointer. The zero Desc describes no family.
type Desc struct {
	h unique.Handle[names]
}

// names is what a Desc stands for. It is comparable, so that package unique
// keeps one copy of each, for as long as somebody uses it.
type names struct {
	name   string
	labels string // packed by AppendValue
}

// NewDesc returns the description of the family with the given name and label
// names. Names follow Prometheus' rules: a name matches
// [a-zA-Z_:][a-zA-Z0-9_:]*, a label name [a-zA-Z_][a-zA-Z0-9_]* and does not
// begin with "__", and label names do not repeat. The labels keep the order in
// which they are given: families that differ in it are different. Errors wrap
// ErrName. It takes about a microsecond.
func NewDesc(name string, labels ...string) (Desc, error) {
	if !validName(name, true) {
		return Desc{}, fmt.Errorf("%w: metric %q does not match [a-zA-Z_:][a-zA-Z0-9_:]*", ErrName, name)
	}
	if len(labels) > MaxLabels {
		return Desc{}, fmt.Errorf("%w: metric %q has %d labels, at most %d are allowed", ErrName, name, len(labels), MaxLabels)
	}
	var packed []byte
	for i, l := range labels {
		if !validName(l, false) {
			return Desc{}, fmt.Errorf("%w: label %q of metric %q does not match [a-zA-Z_][a-zA-Z0-9_]*", ErrName, l, name)
		}
		if strings.HasPrefix(l, "__") {
			return Desc{}, fmt.Errorf("%w: label %q of metric %q begins with __, which Prometheus reserves", ErrName, l, name)
		}
		if slices.Contains(labels[:i], l) {
			return Desc{}, fmt.Errorf("%w: metric %q has label %q twice", ErrName, name, l)
		}
		packed = AppendValue(packed, l)
	}
	return Desc{unique.Make(names{name, string(packed)})}, nil
}

func validName(s string, colon bool) bool {
	for i := range len(s) {
		c := s[i]
		ok := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' ||
			colon && c == ':' || i > 0 && '0' <= c && c <= '9'
		if !ok {
			return false
		}
	}
	return s != ""
}

// IsZero reports whether d describes no family.
func (d Desc) IsZero() bool { return d == Desc{} }

func (d Desc) names() names {
	if d.IsZero() {
		return names{}
	}
	return d.h.Value()
}

// Name returns the family's name, "" for the zero Desc.
func (d Desc) Name() string { return d.names().name }

// Labels yields the label names in the family's order.
func (d Desc) Labels() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := d.names().labels; rest != ""; {
			l, after, _ := CutValue(rest)
			if !yield(l) {
				return
			}
			rest = after
		}
	}
}

// Compare orders families by name, then by label names. The zero Desc comes
// first.
func (d Desc) Compare(e Desc) int {
	if d == e {
		return 0
	}
	a, b := d.names(), e.names()
	if c := strings.Compare(a.name, b.name); c != 0 {
		return c
	}
	return slices.Compare(slices.Collect(d.Labels()), slices.Collect(e.Labels()))
}

// Key returns the key of the series with these label values, one for each
// label name and in their order. Values may be any bytes. It panics when their
// number is wrong.
func (d Desc) Key(values ...string) Key {
	labels := 0
	for range d.Labels() {
		labels++
	}
	if len(values) != labels {
		panic(fmt.Sprintf("hotcount/series: metric %s has %d labels, got %d values", d.Name(), labels, len(values)))
	}
	var packed []byte
	for _, v := range values {
		packed = AppendValue(packed, v)
	}
	return Key{d, string(packed)}
}

// PackedKey is Key for values already packed by AppendValue. It returns an
// error unless packed holds exactly one value for each label.
func (d Desc) PackedKey(packed string) (Key, error) {
	k, rest, err := d.CutKey(packed)
	if err == nil && rest != "" {
		return Key{}, fmt.Errorf("hotcount/series: metric %s: %d bytes follow the packed label values", d.Name(), len(rest))
	}
	return k, err
}

// CutKey is PackedKey for values that something else may follow, which it
// returns too. The Key shares packed's memory.
func (d Desc) CutKey(packed string) (k Key, rest string, err error) {
	rest = packed
	for names := d.names().labels; names != ""; {
		_, names, _ = CutValue(names)
		_, after, ok := CutValue(rest)
		if !ok {
			return Key{}, packed, fmt.Errorf("hotcount/series: metric %s: packed label values are cut short at byte %d of %d", d.Name(), len(packed)-len(rest), len(packed))
		}
		rest = after
	}
	return Key{d, packed[:len(packed)-len(rest)]}, rest, nil
}
