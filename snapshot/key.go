package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// ErrName is wrapped by every error about a metric or label name.
var ErrName = errors.New("hotcount/snapshot: invalid name")

// MaxLabels is the most label names a family may have. It bounds what a
// decoder must reserve for a family that a stranger describes.
const MaxLabels = 64

// A Desc describes a family: the name and the label names that its series
// share. A Desc is immutable. Descs that are equal in content need not be the
// same pointer.
type Desc struct {
	name   string
	labels []string
}

// NewDesc returns the description of the family with the given name and label
// names. Names follow Prometheus' rules: a name matches
// [a-zA-Z_:][a-zA-Z0-9_:]*, a label name [a-zA-Z_][a-zA-Z0-9_]* and does not
// begin with "__", and label names do not repeat. The labels keep the order in
// which they are given; see Key for what that means.
func NewDesc(name string, labels ...string) (*Desc, error) {
	if !validName(name, true) {
		return nil, fmt.Errorf("%w: metric %q does not match [a-zA-Z_:][a-zA-Z0-9_:]*", ErrName, name)
	}
	if len(labels) > MaxLabels {
		return nil, fmt.Errorf("%w: metric %q has %d labels, at most %d are allowed", ErrName, name, len(labels), MaxLabels)
	}
	for i, l := range labels {
		if !validName(l, false) {
			return nil, fmt.Errorf("%w: label %q of metric %q does not match [a-zA-Z_][a-zA-Z0-9_]*", ErrName, l, name)
		}
		if strings.HasPrefix(l, "__") {
			return nil, fmt.Errorf("%w: label %q of metric %q begins with __, which Prometheus reserves", ErrName, l, name)
		}
		if slices.Contains(labels[:i], l) {
			return nil, fmt.Errorf("%w: metric %q has label %q twice", ErrName, name, l)
		}
	}
	return &Desc{name: strings.Clone(name), labels: append([]string(nil), labels...)}, nil
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

// Name returns the family's name.
func (d *Desc) Name() string { return d.name }

// Labels returns the label names. The caller must not change them.
func (d *Desc) Labels() []string { return d.labels }

// Equal reports whether d and e have the same name and the same labels in the
// same order.
func (d *Desc) Equal(e *Desc) bool {
	return d == e || d.name == e.name && slices.Equal(d.labels, e.labels)
}

// Key returns the key of the series with these label values, one for each
// label name and in their order. Values may be any bytes. It panics when their
// number is wrong.
func (d *Desc) Key(values ...string) Key {
	if len(values) != len(d.labels) {
		panic(fmt.Sprintf("hotcount/snapshot: metric %s has %d labels, got %d values", d.name, len(d.labels), len(values)))
	}
	var packed []byte
	for _, v := range values {
		packed = AppendValue(packed, v)
	}
	return Key{desc: d, packed: string(packed)}
}

// PackedKey is Key for values already packed by AppendValue. It returns an
// error unless packed holds exactly one value for each label.
func (d *Desc) PackedKey(packed string) (Key, error) {
	rest := packed
	for range d.labels {
		_, after, ok := CutValue(rest)
		if !ok {
			return Key{}, fmt.Errorf("hotcount/snapshot: metric %s: packed label values are cut short at byte %d of %d", d.name, len(packed)-len(rest), len(packed))
		}
		rest = after
	}
	if rest != "" {
		return Key{}, fmt.Errorf("hotcount/snapshot: metric %s: %d bytes follow the packed label values", d.name, len(rest))
	}
	return Key{desc: d, packed: packed}, nil
}

// TrustedKey is PackedKey without the check, for an engine that packed the
// values itself. Reading a Key made from anything else returns wrong values.
func (d *Desc) TrustedKey(packed string) Key { return Key{desc: d, packed: packed} }

// AppendValue appends one packed label value: its length as a varint, then its
// bytes. The length in front keeps any two different value lists apart,
// whatever bytes they hold.
func AppendValue(dst []byte, v string) []byte {
	if len(v) < 0x80 { // one byte of varint: nearly every label value
		dst = append(dst, byte(len(v)))
	} else {
		dst = binary.AppendUvarint(dst, uint64(len(v)))
	}
	return append(dst, v...)
}

// CutValue splits the first packed label value from the rest. It reports false
// when packed does not begin with a whole value.
func CutValue(packed string) (value, rest string, ok bool) {
	if len(packed) > 0 && packed[0] < 0x80 {
		if end := 1 + int(packed[0]); end <= len(packed) {
			return packed[1:end], packed[end:], true
		}
		return "", "", false
	}
	return cutLong(packed)
}

func cutLong(packed string) (value, rest string, ok bool) {
	var n uint64
	for i := 0; i < len(packed) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(packed[i]&0x7f) << (7 * i)
		if packed[i] < 0x80 {
			packed = packed[i+1:]
			if n > uint64(len(packed)) {
				return "", "", false
			}
			return packed[:n], packed[n:], true
		}
	}
	return "", "", false
}

// A Key names one series: a family and a value for each of its labels. A Key is
// a small immutable value; copies share the strings. Two Keys are the same
// series when Equal says so: with == they also have to share the Desc.
//
// The engine sorts label names before it makes a Desc, so the order in which a
// caller writes labels does not matter there.
type Key struct {
	desc   *Desc
	packed string
}

// Desc returns the series' family, nil for the zero Key.
func (k Key) Desc() *Desc { return k.desc }

// Name returns the family's name, "" for the zero Key.
func (k Key) Name() string {
	if k.desc == nil {
		return ""
	}
	return k.desc.name
}

// Packed returns the label values as AppendValue packs them, in the family's
// label order.
func (k Key) Packed() string { return k.packed }

// Labels yields the label names with their values, in the family's order.
func (k Key) Labels() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		if k.desc == nil {
			return
		}
		rest := k.packed
		for _, l := range k.desc.labels {
			v, after, ok := CutValue(rest)
			if !ok || !yield(l, v) {
				return
			}
			rest = after
		}
	}
}

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

// Equal reports whether k and l name the same series.
func (k Key) Equal(l Key) bool {
	if k.packed != l.packed {
		return false
	}
	if k.desc == nil || l.desc == nil {
		return k.desc == l.desc
	}
	return k.desc.Equal(l.desc)
}

// Compare orders keys by name, then label names, then label values. It gives
// sinks one order in which to take row locks.
func (k Key) Compare(l Key) int {
	if k.desc == l.desc {
		return strings.Compare(k.packed, l.packed)
	}
	if c := strings.Compare(k.Name(), l.Name()); c != 0 {
		return c
	}
	if k.desc == nil || l.desc == nil { // an invalid, nameless key sorts first
		if k.desc == nil {
			return -1
		}
		return 1
	}
	if c := slices.Compare(k.desc.labels, l.desc.labels); c != 0 {
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
	if k.desc == nil || len(k.desc.labels) == 0 {
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
