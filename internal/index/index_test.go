package index

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type entry struct {
	key, hash uint64
}

// hashes are from good to pathological.
var hashes = map[string]func(key uint64) uint64{
	"spread":    func(k uint64) uint64 { return k * 0x9E3779B97F4A7C15 },
	"one shard": func(k uint64) uint64 { return k },
	"one run":   func(k uint64) uint64 { return k % 3 },
	"last slot": func(k uint64) uint64 { return ^uint64(0) - k%2 }, // runs wrap around
	"equal":     func(uint64) uint64 { return 0 },
}

func newIndex() *Index[entry] { return New(func(e *entry) uint64 { return e.hash }) }

func (x *Index[T]) get(hash uint64, is func(*T) bool) *T {
	probe := x.Shard(hash).Probe(hash)
	for {
		if e := probe.Next(); e == nil || is(e) {
			return e
		}
	}
}

func find(x *Index[entry], hash, key uint64) *entry {
	return x.get(hash, func(e *entry) bool { return e.key == key })
}

// After any insertions and removals the index holds what a map holds.
func TestAgainstMap(t *testing.T) {
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			x, want := newIndex(), map[uint64]*entry{}
			for step := range 20_000 {
				key := uint64(r.IntN(200))
				h := hash(key)
				shard := x.Shard(h)
				require.Same(t, want[key], find(x, h, key), "step %d key %d", step, key)
				shard.Lock()
				switch e := want[key]; {
				case e == nil:
					e = &entry{key, h}
					shard.Insert(x, e)
					want[key] = e
				case r.IntN(2) == 0:
					shard.Remove(x, e)
					delete(want, key)
					shard.Remove(x, e) // once more does nothing
				}
				shard.Unlock()
			}
			got := map[uint64]*entry{}
			for e := range x.All {
				require.NotContains(t, got, e.key)
				got[e.key] = e
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestAllStopsWhenAsked(t *testing.T) {
	x := newIndex()
	for k := range uint64(10) {
		x.Shard(k).Insert(x, &entry{k, k})
	}
	n := 0
	for range x.All {
		if n++; n == 3 {
			break
		}
	}
	assert.Equal(t, 3, n)
	assert.Empty(t, collect(newIndex()))
}

func collect(x *Index[entry]) (all []*entry) {
	for e := range x.All {
		all = append(all, e)
	}
	return all
}

// While others come and go around them, entries that stay are found by every
// look-up that locks, are yielded once by every All, and a look-up without lock
// finds them or nothing, never a stranger.
func TestReadersAmongWriters(t *testing.T) {
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			const staying, passing, writers, rounds = 20, 12, 2, 60
			x := newIndex()
			insert := func(e *entry) {
				s := x.Shard(e.hash)
				s.Lock()
				defer s.Unlock()
				s.Insert(x, e)
			}
			stay := map[uint64]*entry{}
			for k := range uint64(staying) {
				stay[k] = &entry{k, hash(k)}
				insert(stay[k])
			}
			var writing, reading sync.WaitGroup
			var done atomic.Bool
			for w := range writers {
				writing.Go(func() {
					for round := range rounds {
						var mine []*entry
						for i := range passing {
							k := uint64(staying + i*writers + w + round%7*1000)
							mine = append(mine, &entry{k, hash(k)})
							insert(mine[i])
						}
						for _, e := range mine {
							s := x.Shard(e.hash)
							s.Lock()
							s.Remove(x, e)
							s.Unlock()
						}
					}
				})
			}
			reading.Go(func() {
				for !done.Load() {
					for k, e := range stay {
						if got := find(x, e.hash, k); got != nil && got != e {
							assert.Fail(t, fmt.Sprintf("key %d found %v", k, got))
						}
						s := x.Shard(e.hash)
						s.Lock()
						assert.Same(t, e, find(x, e.hash, k))
						s.Unlock()
					}
					times := map[uint64]int{}
					for e := range x.All {
						times[e.key]++
					}
					for k := range stay {
						assert.Equal(t, 1, times[k], "key %d in All", k)
					}
				}
			})
			writing.Wait()
			done.Store(true)
			reading.Wait()
			assert.Len(t, collect(x), staying)
		})
	}
}
