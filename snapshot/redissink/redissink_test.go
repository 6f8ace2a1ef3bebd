package redissink

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/series"
)

func TestWriteAndRead(t *testing.T) {
	client, prefix := connect(t)
	for _, partitions := range []int{0, 1, 7} {
		t.Run(strconv.Itoa(partitions), func(t *testing.T) {
			k := open(t, Options{Client: client, Prefix: prefix + t.Name() + ":", Partitions: partitions})
			a, b := newCounting(), newCounting()
			want := map[string]int64{}
			for i, v := range []string{"", "x", "}", "{", "a:b", "\x00\xff", `"\` + "\n", "é"} {
				s := key(t, "hits_total", v)
				n := int64(i) * math.MaxInt64 / 5 // also what is no whole number in a double
				a.add(s, n)
				b.add(s, 7-n)
				b.add(s, -n)
				want[s.String()] = 7 - n
			}
			require.NoError(t, k.Write(t.Context(), a.next()))
			require.NoError(t, k.Write(t.Context(), b.next()))
			assert.Equal(t, want, totals(t, k))
			for id, n := range want {
				s, err := series.ParseKey(id)
				require.NoError(t, err)
				got, age, err := k.Count(t.Context(), s, 0)
				require.NoError(t, err)
				assert.Equal(t, n, got, id)
				assert.Zero(t, age)
				text, err := client.Get(t.Context(), k.KeyNames(s).Count).Result()
				require.NoError(t, err)
				assert.Equal(t, strconv.FormatInt(n, 10), text)
			}
		})
	}
}
