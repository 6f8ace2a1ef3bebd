package series

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestToValidUTF8(t *testing.T) {
	for v, text := range map[string]string{
		"":                 "",
		"Zürich 東京 \x00\n": "Zürich 東京 \x00\n",
		"\xff":             "\ufffdff",
		"a\xc3b":           "a\ufffdc3b",
		"\xed\xa0\x80":     "\ufffded\ufffda0\ufffd80", // a surrogate
		"\xe6\x9d":         "\ufffde6\ufffd9d",
		"\ufffd":           "\ufffdef\ufffdbf\ufffdbd",
		"\ufffdff":         "\ufffdef\ufffdbf\ufffdbdff",
		"東\xff京\ufffd":     "東\ufffdff京\ufffdef\ufffdbf\ufffdbd",
	} {
		assert.Equal(t, text, ToValidUTF8(v), "%q", v)
	}
}

// Whatever the bytes, the text is valid and leads back to them, so no two values
// have the same.
func FuzzToValidUTF8(f *testing.F) {
	for _, v := range []string{"", "GET", "\xff", "\ufffdff", "\xc0\x80", "a\xe6\x9dz", "\U0010ffff\xf4\x90\x80\x80"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		text := ToValidUTF8(v)
		if !utf8.ValidString(text) {
			t.Fatalf("%q gives %q, which is not valid", v, text)
		}
		parts := strings.Split(text, "\ufffd")
		back := parts[0]
		for _, p := range parts[1:] {
			b, err := strconv.ParseUint(p[:2], 16, 8)
			if err != nil {
				t.Fatalf("%q gives %q: %v", v, text, err)
			}
			back += string([]byte{byte(b)}) + p[2:]
		}
		if back != v {
			t.Fatalf("%q gives %q, which leads back to %q", v, text, back)
		}
	})
}
