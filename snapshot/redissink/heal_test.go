package redissink

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

// A server that comes back with an older state, or with none, has the truth again
// after the next flush of each process.
func TestAServerThatFellBehindIsHealed(t *testing.T) {
	for _, old := range []bool{true, false} {
		t.Run(fmt.Sprintf("restored=%v", old), func(t *testing.T) {
			s := startServer(t)
			client := s.client()
			a, b := open(t, Options{Client: client}), open(t, Options{Client: client})
			ca, cb := newCounting(), newCounting()
			evicted, still := key(t, "hits_total", "evicted"), key(t, "hits_total", "still")
			ca.add(evicted, 100)
			for i := range 5 {
				ca.add(still, 10)
				cb.add(still, 1)
				u := sketchOf(t, hll.Options{Hash: hll.Redis}, 0, i*100)
				cb.Uniques = []snapshot.UniquesRow{{Key: still, Created: 1, Scheme: u.Scheme(), Sketch: encoded(t, u)}}
				require.NoError(t, a.Write(t.Context(), ca.next()))
				require.NoError(t, b.Write(t.Context(), cb.next()))
				switch i {
				case 1:
					require.NoError(t, client.Save(t.Context()).Err())
					s.Keep("old")
				case 2: // a series retires, and comes back
					ca.Final = []snapshot.CounterRow{ca.Counters[0]}
					ca.Final[0].Value += 11
					ca.Counters = append([]snapshot.CounterRow{{Key: evicted, Created: 2, Value: 1}}, ca.Counters[1:]...)
				case 3:
					ca.Final = nil
				}
			}
			want := map[string]int64{evicted.String(): 112, still.String(): 55}
			require.Equal(t, want, totals(t, a))

			s.Kill()
			if old {
				s.Bring("old")
			} else {
				s.Lose()
			}
			s.Start()
			require.NotEqual(t, want, totals(t, a))
			require.NoError(t, a.Write(t.Context(), ca.next()))
			require.NoError(t, b.Write(t.Context(), cb.next()))
			require.Equal(t, want, totals(t, a))
			got, err := b.Uniques(t.Context(), export.Query{})
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, registers(t, sketchOf(t, hll.Options{Hash: hll.Redis}, 0, 400)), registers(t, got[0].Sketch))
		})
	}
}

// All requests of a flush twice, and those of the flush before once more, change
// nothing.
func TestRequestsMayComeTwiceLateAndInAnyOrder(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	c := newCounting()
	var late []*call
	want := map[string]int64{}
	for round := range 4 {
		for i := range 3 * rowsPerCall {
			s := key(t, "hits_total", strconv.Itoa(i))
			c.add(s, int64(round*i))
			want[s.String()] += int64(round * i)
		}
		claimed := k.claim(t.Context(), k.share(c.next()))
		require.Len(t, claimed, 1)
		sh := claimed[0]
		sh.pick()
		queue := sh.enqueue(nil)
		ends := len(queue) - 1
		assert.Zero(t, k.again(t, k.call(queue[ends])), "before the rows")
		assert.Zero(t, k.again(t, k.call(queue[1])), "before the first")
		for _, abandoned := range late {
			assert.Zero(t, k.again(t, abandoned), "of a flush before")
		}
		for range 2 {
			for i := range ends {
				require.EqualValues(t, 1, k.again(t, k.call(queue[i])))
			}
		}
		require.EqualValues(t, 1, k.again(t, k.call(queue[0])), "once more")
		last := k.call(queue[ends])
		k.run(t.Context(), last)
		sh.answered(queue[ends], last)
		require.NoError(t, sh.err)
		for _, r := range queue[:ends] {
			late = append(late, k.call(r))
		}
		require.Equal(t, want, totals(t, k))
		for i := range late {
			require.Zero(t, k.again(t, late[len(late)-1-i]), "of a flush that has ended")
		}
		require.EqualValues(t, 1, k.again(t, last))
		require.Equal(t, want, totals(t, k))
	}
}

func (k *Sink) again(t *testing.T, c *call) int64 {
	t.Helper()
	k.run(t.Context(), c)
	answer, err := c.cmd.Int64()
	require.NoError(t, err)
	return answer
}

// The number arithmetic of the scripts is that of int64.
func TestNumbersInScripts(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	add := newScript(luaNumber, "local sum = add(ARGV[1], ARGV[2]) return {sum, decimal(sum)}")
	numbers := []int64{0, 1, -1, 9, 10, 999_999, 1_000_000, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, -1 << 32, 1<<63 - 1, -1 << 63, 1234567890123456789}
	for _, a := range numbers {
		for _, b := range numbers {
			c := &call{script: &add, keys: []string{prefix}, args: []any{hexadecimal(a), hexadecimal(b)}}
			k.run(t.Context(), c)
			got, err := c.cmd.StringSlice()
			require.NoError(t, err)
			require.Equal(t, []string{hexadecimal(a + b), strconv.FormatInt(a+b, 10)}, got, "%d + %d", a, b)
		}
	}
}

func hexadecimal(n int64) string { return strconv.FormatUint(uint64(n), 16) }

// A server that has lost the scripts, as each that restarts, gets them again.
func TestScriptsAreLoadedAgain(t *testing.T) {
	s := startServer(t)
	k := open(t, Options{Client: s.client()})
	c := newCounting()
	for i := range 5 {
		c.add(key(t, "hits_total", "x"), 1)
		require.NoError(t, s.client().ScriptFlush(t.Context()).Err())
		require.NoError(t, k.Write(t.Context(), c.next()))
		require.EqualValues(t, i+1, totals(t, k)[key(t, "hits_total", "x").String()])
	}
}

// The kept total is found once for all who accept its age.
func TestCount(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "hits_total", "x")
	n, age, err := k.Count(t.Context(), s, 0)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Zero(t, age)
	assert.Zero(t, client.Exists(t.Context(), k.KeyNames(s).Count).Val())

	c := newCounting()
	c.add(s, -5)
	require.NoError(t, k.Write(t.Context(), c.next()))
	for _, maxAge := range []time.Duration{time.Hour, 2 * time.Hour, 2 * countKept} {
		n, _, err = k.Count(t.Context(), s, maxAge)
		require.NoError(t, err)
		assert.EqualValues(t, -5, n)
	}
	c.add(s, 1)
	require.NoError(t, k.Write(t.Context(), c.next()))
	n, _, err = k.Count(t.Context(), s, time.Hour)
	require.NoError(t, err)
	assert.EqualValues(t, -5, n, "as it was less than an hour ago")
	require.NoError(t, client.PExpire(t.Context(), k.KeyNames(s).Count, countKept-2*time.Hour).Err())
	n, age, err = k.Count(t.Context(), s, 3*time.Hour)
	require.NoError(t, err)
	assert.EqualValues(t, -5, n)
	assert.InDelta(t, 2*time.Hour, age, float64(time.Hour))
	n, age, err = k.Count(t.Context(), s, time.Hour)
	require.NoError(t, err)
	assert.EqualValues(t, -4, n)
	assert.Zero(t, age)
	require.Equal(t, "-4", client.Get(t.Context(), k.KeyNames(s).Count).Val())
}
