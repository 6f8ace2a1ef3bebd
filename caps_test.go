package hotcount

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// However many goroutines create at once: a family has exactly as many series
// as its limit, all look-ups of one name agree, and the totals are exact.
func TestFamilyCapIsExact(t *testing.T) {
	for _, collisions := range []bool{false, true} {
		t.Run(fmt.Sprintf("collide=%v", collisions), func(t *testing.T) {
			const limit, names, writers = 100, 150, 8
			e, l := newEngine(t, Options{Limits: Limits{FamilySeries: limit}}), newLedger(t)
			if collisions {
				collide(e)
			}
			v := e.CounterVec("views_total", "post")
			got := make([][names]*Counter, writers)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range names {
						n := (i + w*names/writers) % names
						got[w][n] = v.With(strconv.Itoa(n))
						got[w][n].Inc()
					}
				})
			}
			wg.Wait()
			overflow := (*Counter)(v.f.overflowSeries())
			refused := 0
			for n := range names {
				for w := range writers {
					assert.Same(t, got[0][n], got[w][n], "name %d", n)
				}
				if got[0][n] == overflow {
					refused++
				} else {
					assert.EqualValues(t, writers, got[0][n].Value())
					assert.Same(t, got[0][n], v.With(strconv.Itoa(n)), "an existing series never overflows")
				}
			}
			assert.Equal(t, names-limit, refused)
			assert.EqualValues(t, limit, v.f.live.Load())
			assert.EqualValues(t, limit, e.live.Load())
			assert.EqualValues(t, (names-limit)*writers, overflow.Value())
			assert.EqualValues(t, (names-limit)*writers, v.f.refused.Value())
			l.sweep(e)
			assert.EqualValues(t, (names-limit)*writers, l.totals()[`views_total{hotcount_overflow="true"}`])
			assert.Len(t, l.totals(), limit+1)
		})
	}
}

// Families that fill up together leave no place of the engine's unused.
func TestEngineCapIsExact(t *testing.T) {
	const limit, families, names = 200, 4, 100
	e, l := newEngine(t, Options{Limits: Limits{Series: limit}}), newLedger(t)
	var wg sync.WaitGroup
	for f := range families {
		wg.Go(func() {
			v := e.CounterVec(fmt.Sprintf("family%d_total", f), "n")
			for n := range names {
				v.With(strconv.Itoa(n)).Inc()
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, limit, e.live.Load())
	l.sweep(e)
	var sum int64
	for _, n := range l.totals() {
		sum += n
	}
	assert.EqualValues(t, families*names, sum)
	inFamilies := int64(0)
	for f := range e.families.All {
		inFamilies += f.live.Load()
	}
	assert.EqualValues(t, limit, inFamilies)
}

// An evicted series makes room for a new one; one that a handle brings back
// needs none.
func TestEvictionMakesRoom(t *testing.T) {
	e, l := newEngine(t, Options{Limits: Limits{FamilySeries: 1}}), newLedger(t)
	v := e.CounterVec("views_total", "post")
	a := v.With("a")
	a.Inc()
	evict(l, e, a)
	b := v.With("b")
	b.Inc()
	assert.Equal(t, "b", b.Key().Label("post"))
	a.Inc()
	l.sweep(e)
	assert.EqualValues(t, 2, l.total(a))
	assert.EqualValues(t, 1, l.total(b))
	assert.EqualValues(t, 2, v.f.live.Load())
	assert.Equal(t, "true", v.With("c").Key().Label(overflowLabel))
}

func TestUniquesOverflowCountsTheRest(t *testing.T) {
	e := newEngine(t, Options{Limits: Limits{FamilySeries: 1}})
	v := e.UniquesVec("visitors", "page")
	v.With("a").AddString("x")
	v.With("b").AddString("y")
	v.With("c").AddString("z")
	assert.Same(t, v.With("b"), v.With("c"))
	assert.EqualValues(t, 2, v.With("d").Estimate().Count)
	assert.EqualValues(t, 1, v.With("a").Estimate().Count)
}

func TestKeysOfTheEngine(t *testing.T) {
	e := newEngine(t, Options{Limits: Limits{FamilySeries: 1}})
	v := e.CounterVec("views_total", "post")
	for _, c := range []*Counter{v.With("a"), e.Counter("jobs_total")} {
		assert.False(t, IsOverflow(c.Key()))
		assert.False(t, IsHealth(c.Key()))
	}
	assert.True(t, IsOverflow(v.With("b").Key()))
	assert.False(t, IsHealth(v.With("b").Key()))
	assert.False(t, IsOverflow(series.Key{}))
	assert.False(t, IsHealth(series.Key{}))
	var s snapshot.Snapshot
	e.Snapshot(&s)
	for _, g := range s.Gauges {
		assert.True(t, IsHealth(g.Key), g.Key)
	}
}

// However many goroutines create at once, label values take no more room than
// there is, and leave it when their series do.
func TestLabelBytesCapIsExact(t *testing.T) {
	const room, size, names, writers = 10 * 101, 100, 40, 4
	e, l := newEngine(t, Options{Limits: Limits{LabelBytes: room}}), newLedger(t)
	v := e.CounterVec("views_total", "post")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range names {
				v.With(fmt.Sprintf("%0*d", size, (i+w*names/writers)%names)).Inc()
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, room, e.labelBytes.Load())
	assert.EqualValues(t, room/(size+1), e.live.Load())
	assert.EqualValues(t, e.live.Load(), v.f.live.Load())

	var kept *Counter
	for s := range e.index.All {
		if c := (*Counter)(s); !IsOverflow(c.Key()) {
			evict(l, e, c)
			kept = c
		}
	}
	assert.Zero(t, e.labelBytes.Load())
	kept.Inc()
	l.sweep(e)
	assert.EqualValues(t, size+1, e.labelBytes.Load(), "what a handle brings back takes room again")
	var sum int64
	for _, n := range l.totals() {
		sum += n
	}
	assert.EqualValues(t, names*writers+1, sum)
}

// Values too long to be exported are counted where there is room for them.
func TestLongLabelValuesOverflow(t *testing.T) {
	e := newEngine(t, Options{})
	v := e.CounterVec("views_total", "post", "referrer")
	fits := strings.Repeat("x", maxLabelBytes-1)
	for range 2 {
		v.With("1", fits).Inc()
		v.With("1", fits+"xx").Inc()
		v.With(fits+"xx", "1").Inc()
	}
	assert.EqualValues(t, 2, v.With("1", fits).Value())
	assert.EqualValues(t, 4, (*Counter)(v.f.overflowSeries()).Value())
	assert.EqualValues(t, 4, v.f.refused.Value())
	assert.EqualValues(t, 1, v.f.live.Load())
}
