package series

import (
	"iter"
	"strings"
)

// A Key names one series: a family and a value for each of its labels. A Key is
// a small immutable value; copies share the strings. Two Keys are equal with ==
// if and only if they name the same series, so a Key is good for a map.
//
// The engine sorts label names before it makes a Desc, so the order in which a
// caller writes labels does not matter there.
type Key struct {
	desc   Desc
	packed string
}

// Desc returns the series' family, the zero Desc for the zero Key.
func (k Key) Desc() Desc { return k.desc }

// IsZero reports whether k names no series.
func (k Key) IsZero() bool { return k == Key{} }

// Name returns the family's name, "" for the zero Key.
func (k Key) Name() string { return k.desc.Name() }

// Packed returns the label values as AppendValue packs them, in the family's
// label order.
func (k Key) Packed() string { return k.packed }

// Labels yields the label names with their values, in the family's order.
func (k Key) Labels() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		rest := k.packed
		for l := range k.desc.Labels() {
			v, after, ok := CutValue(rest)
			if !ok || !yield(l, v) {
				return
			}
			rest = after
		}
	}
}

// Clone returns k with label values of its own, so that it does not keep alive
// the larger string that it may have been cut from.
func (k Key) Clone() Key { return Key{k.desc, strings.Clone(k.packed)} }

// Label returns the value of the label with the given name, "" if the series
// has no such label.
func (k Key) Label(name string) string {
	for n, v := range k.Labels() {
		if n == name {
			return v
		}
	}
	return ""
}

// Compare orders keys by name, then label names, then label values. It gives
// sinks one order in which to take row locks.
func (k Key) Compare(l Key) int {
	if c := k.desc.Compare(l.desc); c != 0 {
		return c
	}
	return strings.Compare(k.packed, l.packed)
}

// String returns the series in the notation of the Prometheus text format:
// name{label="value"}, with backslash, quote and newline escaped. Different
// series have different strings.
func (k Key) String() string { return string(k.AppendText(nil)) }

// AppendText appends what String returns.
func (k Key) AppendText(dst []byte) []byte {
	dst = append(dst, k.Name()...)
	if k.packed == "" {
		return dst
	}
	sep := byte('{')
	for name, value := range k.Labels() {
		dst = append(dst, sep)
		dst = append(dst, name...)
		dst = append(dst, '=', '"')
		for i := range len(value) {
			switch c := value[i]; c {
			case '\\', '"':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			default:
				dst = append(dst, c)
			}
		}
		dst = append(dst, '"')
		sep = ','
	}
	return append(dst, '}')
}
