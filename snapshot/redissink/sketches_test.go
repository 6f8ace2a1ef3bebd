package redissink

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

// sketchOf returns a sketch of the elements e-from to e-(to-1).
func sketchOf(t testing.TB, o hll.Options, from, to int) *hll.Sketch {
	t.Helper()
	s, err := hll.New(o)
	require.NoError(t, err)
	for i := from; i < to; i++ {
		s.AddString(fmt.Sprint("e-", i))
	}
	return s
}

func encoded(t testing.TB, s *hll.Sketch) []byte {
	t.Helper()
	data, err := s.MarshalBinary()
	require.NoError(t, err)
	return data
}

// registers returns a form of a sketch in which equal ones are equal.
func registers(t testing.TB, s *hll.Sketch) []byte {
	t.Helper()
	data, err := s.AppendRedis(nil)
	require.NoError(t, err)
	return data
}

// The store holds the union of what all writers have seen, for each way of
// hashing, register for register.
func TestUniques(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "visitors", "x")
	schemes := []hll.Options{{Hash: hll.Redis}, {}, {Seed: 7}, {Hash: hll.Redis, Precision: 16}}
	for w := range 4 {
		c := newCounting()
		for round := range 3 {
			c.Uniques = nil
			for _, o := range schemes {
				u := sketchOf(t, o, w*500, w*500+300*(round+1))
				c.Uniques = append(c.Uniques, snapshot.UniquesRow{Key: s, Created: int64(o.Precision), Scheme: u.Scheme(), Sketch: encoded(t, u)})
			}
			require.NoError(t, k.Write(t.Context(), c.next()))
		}
	}
	got, err := k.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	require.Len(t, got, 3)
	for _, u := range got {
		o := hll.Options{Hash: u.Scheme.Hash}
		if u.Scheme.SeedPrint != 0 {
			o.Seed = 7
		}
		want := sketchOf(t, o, 0, 2400)
		assert.Equal(t, want.Scheme(), u.Scheme)
		assert.Equal(t, s, u.Key)
		assert.Equal(t, registers(t, want), registers(t, u.Sketch), "%v", u.Scheme)
	}

	n, err := client.PFCount(t.Context(), k.KeyNames(s).Uniques).Result()
	require.NoError(t, err)
	assert.InEpsilon(t, 2400, n, 0.03)
	require.NoError(t, client.PFAdd(t.Context(), k.KeyNames(s).Uniques, "e-1", "e-2399").Err())
	same, err := client.PFCount(t.Context(), k.KeyNames(s).Uniques).Result()
	require.NoError(t, err)
	assert.Equal(t, n, same, "what Redis adds itself is counted once")
}

func TestCoarseSketchesAreKeptBeside(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	s := key(t, "visitors", "x")
	c := newCounting()
	for _, p := range []int{12, 10, 13} {
		u := sketchOf(t, hll.Options{Hash: hll.Redis, Precision: p}, p*1000, p*1000+1000)
		c.Uniques = []snapshot.UniquesRow{{Key: s, Created: 1, Scheme: u.Scheme(), Sketch: encoded(t, u)}}
		require.NoError(t, k.Write(t.Context(), c.next()))
	}
	got, err := k.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, 10, got[0].Sketch.Options().Precision)
	assert.InEpsilon(t, 3000, got[0].Sketch.Estimate().Count, 0.15)
	assert.Zero(t, client.Exists(t.Context(), k.KeyNames(s).Uniques).Val())
}

// Many writers that unite one sketch at the same time all get in, in the end.
func TestUnionsDoNotOverwriteEachOther(t *testing.T) {
	client, prefix := connect(t)
	const writers = 8
	s := key(t, "visitors", "x")
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			k := open(t, Options{Client: client, Prefix: prefix})
			u := sketchOf(t, hll.Options{}, w*100, w*100+100)
			c := newCounting()
			c.Uniques = []snapshot.UniquesRow{{Key: s, Created: 1, Scheme: u.Scheme(), Sketch: encoded(t, u)}}
			written := c.next()
			assert.Eventually(t, func() bool { return k.Write(t.Context(), written) == nil }, patience, 1)
		})
	}
	all.Wait()
	got, err := open(t, Options{Client: client, Prefix: prefix}).Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, registers(t, sketchOf(t, hll.Options{}, 0, writers*100)), registers(t, got[0].Sketch))
}

func TestBrokenSketchesAreRefused(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	for _, scheme := range []hll.Scheme{{}, {Hash: hll.Redis}} {
		c := newCounting()
		c.Uniques = []snapshot.UniquesRow{{Key: key(t, "visitors", "x"), Created: 1, Scheme: scheme, Sketch: []byte("x")}}
		assert.ErrorIs(t, k.Write(t.Context(), c.next()), hll.ErrFormat)
	}
}
