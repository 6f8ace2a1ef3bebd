package series

import (
	"fmt"
	"strings"
)

// ParseKey reads the form that Key.String writes, and only that: the labels are
// in the family's order, and nothing is escaped that need not be. So a string
// that ParseKey takes is the one string of its series. Errors about
// names wrap ErrName.
func ParseKey(s string) (Key, error) {
	name, rest, labelled := strings.Cut(s, "{")
	if !labelled {
		d, err := NewDesc(name)
		if err != nil {
			return Key{}, err
		}
		return d.Key(), nil
	}
	var labels []string
	var packed []byte
	for more := true; more; {
		label, after, ok := strings.Cut(rest, `="`)
		if !ok {
			return Key{}, malformed(s, rest, `want label="`)
		}
		value, after, ok := cutQuoted(after)
		if !ok {
			return Key{}, malformed(s, after, "want a quoted value")
		}
		labels, packed = append(labels, label), AppendValue(packed, value)
		rest, more = strings.CutPrefix(after, ",")
	}
	if rest != "}" {
		return Key{}, malformed(s, rest, "want } and the end")
	}
	d, err := NewDesc(name, labels...)
	if err != nil {
		return Key{}, err
	}
	return Key{desc: d, packed: string(packed)}, nil
}

// malformed returns an error about the place in s that rest begins at.
func malformed(s, rest, want string) error {
	return fmt.Errorf("hotcount/series: key %.80q: %s at byte %d", s, want, len(s)-len(rest))
}

// cutQuoted splits an escaped value and the quote that ends it from the rest. If
// it reports false, rest is where it gave up.
func cutQuoted(s string) (value, rest string, ok bool) {
	var unescaped strings.Builder
	for {
		i := strings.IndexAny(s, "\\\"\n")
		if i < 0 {
			return "", "", false
		}
		unescaped.WriteString(s[:i])
		switch {
		case s[i] == '"':
			return unescaped.String(), s[i+1:], true
		case strings.HasPrefix(s[i:], `\n`):
			unescaped.WriteByte('\n')
		case strings.HasPrefix(s[i:], `\\`), strings.HasPrefix(s[i:], `\"`):
			unescaped.WriteByte(s[i+1])
		default:
			return "", s[i:], false
		}
		s = s[i+2:]
	}
}
