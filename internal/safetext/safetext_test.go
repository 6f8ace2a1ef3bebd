package safetext

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"/a?b=c":              "/a?b=c",
		"/ä/日本":               "/ä/日本",
		"\x1b[2J\a\x00":       `\x1b[2J\a\x00`,
		"\xff\xc3(":           `\xff\xc3(`,
		"\u202e\u2028\u009b2": `\u202e\u2028\u009b2`, // bidi override, line separator, CSI
		"0123456789":          "0123456789",
		"0123456789x":         "0123456789…",
		"":                    "",
	} {
		assert.Equal(t, want, Printable(in, 10))
	}
}

func TestWithoutSecrets(t *testing.T) {
	for in, want := range map[string]string{
		"redis://:hunter2@127.0.0.1/0":               "redis://…@127.0.0.1/0",
		"dial nats://me:hunter2@[::1]:4222: refused": "dial nats://…@[::1]:4222: refused",
		"postgres://a:b@c/d, postgres://me@host":     "postgres://…@c/d, postgres://…@host",
		"https://example.com/a@b":                    "https://example.com/a@b",
		"me@example.com":                             "me@example.com",
	} {
		assert.Equal(t, want, WithoutSecrets(in))
	}
}
