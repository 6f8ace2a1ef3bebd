package web

import (
	"unicode/utf8"

	"github.com/hotcount/hotcount/snapshot"
)

// appendKey appends the text form of k as valid UTF-8; the package comment has
// the rule. It is one to one, since in the text form a backslash is followed by
// another, a quote or an n, never by an x.
func appendKey(dst []byte, k snapshot.Key) []byte {
	from := len(dst)
	dst = k.AppendText(dst)
	if utf8.Valid(dst[from:]) {
		return dst
	}
	const hex = "0123456789abcdef"
	text := append([]byte(nil), dst[from:]...)
	dst = dst[:from]
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, '\\', 'x', hex[text[0]>>4], hex[text[0]&0xf])
		} else {
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}
