package sinks

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden stands for a secret, as in net/url.
const hidden = "xxxxx"

// secretParameters are parts of the names of parameters that hold secrets.
var secretParameters = [...]string{"pass", "token", "secret", "key", "auth", "creds"}

// secrets returns what must not be shown of an address, the longest first, in
// the form in which it stands there and in the form that it means. Whatever is
// in doubt is a secret: all before the last @ that is no user's name, even where
// the address is none.
func secrets(address string) []string {
	var found []string
	add := func(s string) {
		if s == "" {
			return
		}
		found = append(found, s)
		if plain, err := url.PathUnescape(s); err == nil && plain != s {
			found = append(found, plain)
		}
		if plain, err := url.QueryUnescape(s); err == nil && plain != s {
			found = append(found, plain)
		}
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return nil
	}
	tokens := !strings.HasPrefix(scheme, "postgres") // which has none: there it is a user's name
	add(passwordOf(rest, tokens))
	for server := range strings.SplitSeq(rest, ",") { // if there are several
		add(passwordOf(server, tokens))
	}
	if _, query, ok := strings.Cut(rest, "?"); ok {
		for parameter := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(parameter, "=")
			name = strings.ToLower(name)
			if slices.ContainsFunc(secretParameters[:], func(part string) bool { return strings.Contains(name, part) }) {
				add(value)
			}
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

// passwordOf returns what stands before the last @ and is no user's name.
func passwordOf(server string, tokens bool) string {
	at := strings.LastIndexByte(server, '@')
	if at < 0 {
		return ""
	}
	if _, password, ok := strings.Cut(server[:at], ":"); ok {
		return password
	}
	if !tokens {
		return ""
	}
	return server[:at]
}

// shortSecret is below how many bytes a secret is hidden only where it is a word:
// a password of one letter must not make a message unreadable.
const shortSecret = 4

func hide(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= shortSecret {
			text = strings.ReplaceAll(text, s, hidden)
		} else {
			text = hideWord(text, s)
		}
	}
	return text
}

func hideWord(text, secret string) string {
	var b strings.Builder
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for done := 0; ; {
		i := strings.Index(text[done:], secret)
		if i < 0 {
			return b.String() + text[done:]
		}
		at, end := done+i, done+i+len(secret)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])
		b.WriteString(text[done:at])
		if letter(before) || letter(after) {
			b.WriteString(secret)
		} else {
			b.WriteString(hidden)
		}
		done = end
	}
}
