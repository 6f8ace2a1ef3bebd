package series

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func desc(t testing.TB, name string, labels ...string) Desc {
	t.Helper()
	d, err := NewDesc(name, labels...)
	require.NoError(t, err)
	return d
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "_", ":", "http_requests_total", "A9:_z"} {
		_, err := NewDesc(name)
		require.NoError(t, err)
	}
	for _, name := range []string{"", "9a", "a-b", "a b", "é", "a\x00"} {
		_, err := NewDesc(name)
		require.ErrorIs(t, err, ErrName, name)
		_, err = NewDesc("ok", name)
		require.ErrorIs(t, err, ErrName, name)
	}
	for _, label := range []string{"a:b", "__", "__name__"} {
		_, err := NewDesc("ok", label)
		require.ErrorIs(t, err, ErrName, label)
	}
	_, err := NewDesc("ok", "_a")
	require.NoError(t, err)
	_, err = NewDesc("ok", "a", "b", "a")
	require.ErrorIs(t, err, ErrName)

	labels := make([]string, MaxLabels+1)
	for i := range labels {
		labels[i] = "l" + strings.Repeat("x", i)
	}
	_, err = NewDesc("ok", labels[:MaxLabels]...)
	require.NoError(t, err)
	_, err = NewDesc("ok", labels...)
	require.ErrorIs(t, err, ErrName)
}

func TestDescKeepsItsOwnLabels(t *testing.T) {
	labels := []string{"a", "b"}
	d := desc(t, "n", labels...)
	labels[0] = "changed"
	require.Equal(t, []string{"a", "b"}, slices.Collect(d.Labels()))
}

// Equality is that of content, whoever made the description and the key.
func TestEqualKeysAreOneKeyOfAMap(t *testing.T) {
	seen := map[Key]int{}
	for range 3 {
		for _, d := range []Desc{desc(t, "n", "a", "b"), desc(t, "n", "b", "a"), desc(t, "n", "ab"), desc(t, "n")} {
			for _, v := range awkward {
				values := make([]string, len(slices.Collect(d.Labels())))
				for i := range values {
					values[i] = v
				}
				k := d.Key(values...)
				parsed, err := ParseKey(k.String())
				require.NoError(t, err)
				require.Equal(t, k, parsed)
				require.True(t, k == parsed && k == k.Clone())
				seen[parsed]++
			}
		}
	}
	require.Len(t, seen, 3*len(awkward)+1)
}

// awkward values are those that naive joining confuses, and long ones.
var awkward = []string{"", "a", "b", "ab", "\x01", "\x00", ",", "=", "\"", "\\", "\n", "\xff", "a\x01b",
	strings.Repeat("x", 127), strings.Repeat("x", 128), strings.Repeat("x", 20_000)}

func TestKeysOfDifferentValuesDiffer(t *testing.T) {
	d := desc(t, "n", "a", "b")
	packed := map[string]bool{}
	text := map[string]bool{}
	for _, a := range awkward {
		for _, b := range awkward {
			k := d.Key(a, b)
			packed[k.Packed()] = true
			text[k.String()] = true
			require.Equal(t, map[string]string{"a": a, "b": b}, maps.Collect(k.Labels()))
			require.Equal(t, b, k.Label("b"))
			require.Empty(t, k.Label("c"))
			again, err := d.PackedKey(k.Packed())
			require.NoError(t, err)
			require.Equal(t, k, again)
		}
	}
	require.Len(t, packed, len(awkward)*len(awkward))
	require.Len(t, text, len(awkward)*len(awkward))
}

func TestPackedKeyRefusesWhatKeyDoesNotMake(t *testing.T) {
	d := desc(t, "n", "a", "b")
	whole := d.Key("abc", strings.Repeat("x", 200)).Packed()
	for n := range whole {
		_, err := d.PackedKey(whole[:n])
		require.ErrorContains(t, err, "cut short", "length %d", n)
	}
	_, err := d.PackedKey(whole + "x")
	require.ErrorContains(t, err, "follow")
	_, err = d.PackedKey(strings.Repeat("\xff", 20))
	require.Error(t, err)
}

func TestKeyPanicsOnWrongNumberOfValues(t *testing.T) {
	require.Panics(t, func() { desc(t, "n", "a").Key() })
	require.Panics(t, func() { desc(t, "n").Key("x") })
}

func TestZeroKey(t *testing.T) {
	var k Key
	require.True(t, k.IsZero())
	require.True(t, k.Desc().IsZero())
	require.Empty(t, slices.Collect(k.Desc().Labels()))
	require.Empty(t, k.Name())
	require.Empty(t, k.String())
	require.Empty(t, maps.Collect(k.Labels()))
	require.NotEqual(t, k, desc(t, "n").Key())
	require.Negative(t, k.Compare(desc(t, "n").Key()))
	require.Positive(t, desc(t, "n").Key().Compare(k))
}

// TestCompareIsAnOrder checks that Compare agrees with == and sorts every
// permutation alike.
func TestCompareIsAnOrder(t *testing.T) {
	var keys []Key
	for _, d := range []Desc{desc(t, "a"), desc(t, "b", "x"), desc(t, "b", "x"), desc(t, "b", "y"), desc(t, "b", "x", "y")} {
		values := make([]string, len(slices.Collect(d.Labels())))
		for _, v := range awkward[:6] {
			for i := range values {
				values[i] = v
			}
			keys = append(keys, d.Key(values...))
		}
	}
	keys = append(keys, Key{})
	for _, k := range keys {
		for _, l := range keys {
			require.Equal(t, k == l, k.Compare(l) == 0)
			require.Equal(t, k.Compare(l), -l.Compare(k))
		}
	}
	slices.SortFunc(keys, Key.Compare)
	want := texts(keys)
	for range 100 {
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		slices.SortFunc(keys, Key.Compare)
		require.Equal(t, want, texts(keys))
	}
}

func texts(keys []Key) (s []string) {
	for _, k := range keys {
		s = append(s, k.String())
	}
	return s
}

func TestString(t *testing.T) {
	require.Equal(t, "n", desc(t, "n").Key().String())
	require.Equal(t, `n{a="1",b="x\"y\\z\n"}`, desc(t, "n", "a", "b").Key("1", "x\"y\\z\n").String())
}
