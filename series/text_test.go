package series

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseKeyReadsWhatStringWrites(t *testing.T) {
	d, err := NewDesc("m:x", "a", "b")
	require.NoError(t, err)
	for _, v := range []string{"", "x", `\`, `"`, "\n", `\n`, `",b="`, "}", "{", "\x00\xff", "é", strings.Repeat(`\"`, 200)} {
		for _, k := range []Key{d.Key(v, ""), d.Key("", v), d.Key(v, v)} {
			got, err := ParseKey(k.String())
			require.NoError(t, err)
			assert.Equal(t, k, got)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	for _, s := range []string{
		"", "{", "m{", "m{}", "m}", `m{a}`, `m{a=}`, `m{a="}`, `m{a="x"`, `m{a="x",`, `m{a="x",}`, `m{a="x"} `,
		`m{a="\x"}`, `m{a="\`, "m{a=\"\n\"}", `m{a="x"b="y"}`, `m{a="x"}{`, `m{,a="x"}`,
	} {
		_, err := ParseKey(s)
		assert.ErrorContains(t, err, "hotcount/series: ", "%q", s)
	}
	for _, s := range []string{"", "1", `m{1="x"}`, `m{a="x",a="y"}`, `m-n{a="x"}`} {
		_, err := ParseKey(s)
		assert.ErrorIs(t, err, ErrName, "%q", s)
	}
}

func FuzzParseKey(f *testing.F) {
	for _, s := range []string{"m", `m{a="x"}`, `m{a="\\\"\n",b="}"}`, "m{a=\"\xff\"}", `m{a="x",}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ParseKey(s); err == nil {
			require.Equal(t, s, k.String())
		}
	})
}
