// Package safetext makes strangers' text fit to be shown: on a terminal, on a
// page, in an answer.
package safetext

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s, cut to limit characters, with invalid UTF-8 and what is no
// printable character escaped: a label must neither steer the terminal that shows
// it nor reorder the text around it, and two that differ should look different.
func Printable(s string, limit int) string {
	var b strings.Builder
	for n := 0; s != ""; n++ {
		if n == limit {
			b.WriteRune('…')
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !unicode.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// userInfo is the part of an address that may hold a password.
var userInfo = regexp.MustCompile(`://[^/\s"']*@`)

// WithoutSecrets returns text without the users and passwords of addresses in it.
func WithoutSecrets(text string) string { return userInfo.ReplaceAllString(text, "://…@") }
