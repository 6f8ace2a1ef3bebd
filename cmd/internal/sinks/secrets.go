package sinks

import (
	"net/url"
	"slices"
	"strings"
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
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return nil
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		_, password, ok := strings.Cut(rest[:at], ":")
		if !ok {
			password = rest[:at] // a token
		}
		add(password)
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

func hide(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, hidden)
	}
	return text
}
