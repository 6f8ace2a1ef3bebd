package series

import (
	"strings"
	"unicode/utf8"
)

// ToValidUTF8 returns a label value as text that formats without room for
// arbitrary bytes can hold. Each byte that is no part of a valid character is
// written as the replacement character U+FFFD and two hexadecimal digits, and so
// are the bytes of a U+FFFD that was in the value. All else stays as it is, so
// that nearly every value is returned unchanged. Different values have different
// texts.
func ToValidUTF8(v string) string {
	i := firstEscaped(v)
	if i < 0 {
		return v
	}
	const replacement, hex = string(utf8.RuneError), "0123456789abcdef"
	var text strings.Builder
	for ; i >= 0; i = firstEscaped(v) {
		text.WriteString(v[:i])
		_, n := utf8.DecodeRuneInString(v[i:])
		for _, b := range []byte(v[i : i+n]) {
			text.WriteString(replacement)
			text.WriteByte(hex[b>>4])
			text.WriteByte(hex[b&0xf])
		}
		v = v[i+n:]
	}
	text.WriteString(v)
	return text.String()
}

// firstEscaped returns where the first character is that ToValidUTF8 escapes, -1
// if there is none. IndexRune finds invalid bytes, too, when asked for U+FFFD.
func firstEscaped(v string) int { return strings.IndexRune(v, utf8.RuneError) }
