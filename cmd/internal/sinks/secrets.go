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
	add(passwordOf(rest))
	for server := range strings.SplitSeq(rest, ",") { // if there are several
		add(passwordOf(server))
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
func passwordOf(server string) string {
	at := strings.LastIndexByte(server, '@')
	if at < 0 {
		return ""
	}
	if _, password, ok := strings.Cut(server[:at], ":"); ok {
		return password
	}
	return server[:at] // a token
}

func hide(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, hidden)
	}
	return text
}
