package hotcount

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hotcount/hotcount/snapshot"
)

// overflowLabel is the one label of an overflow series. It is reserved, so that
// no caller's series can be taken for one.
const overflowLabel = "hotcount_overflow"

// reservedPrefix begins the names of the engine's own health series.
const reservedPrefix = "hotcount_"

type kind uint8

const (
	counters kind = iota
	uniques
)

func (k kind) String() string {
	if k == uniques {
		return "uniques"
	}
	return "counter"
}

// A family is what the series of one name share.
type family struct {
	engine *Engine
	desc   *snapshot.Desc // labels sorted by name
	kind   kind
	seed   uint64 // sets apart equal label values of different families

	limit int64
	live  atomic.Int64 // series in the index

	refused      atomic.Int64 // look-ups that got the overflow series
	overflowOnce sync.Once
	overflow     *series // exempt from limits and eviction

	restoring sync.Mutex
	restored  restored // what no series has taken up yet
}

// find returns the series with the values that order picks, or nil. A nil is no
// proof that there is none unless the shard is locked; see package index.
func (f *family) find(hash uint64, values []string, order []uint8) *series {
	slots := f.engine.index.Shard(hash).Slots()
	if len(slots) == 0 {
		return nil
	}
	mask := uint64(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := slots[i].Load()
		if s == nil {
			return nil
		}
		if s.fam == f && matches(s.labels, values, order) {
			return s
		}
	}
}

// findPacked is find for values that are packed already.
func (f *family) findPacked(hash uint64, labels string) *series {
	slots := f.engine.index.Shard(hash).Slots()
	if len(slots) == 0 {
		return nil
	}
	mask := uint64(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := slots[i].Load()
		if s == nil || s.fam == f && s.labels == labels {
			return s
		}
	}
}

// hash returns the hash of the series with the values that order picks.
func (f *family) hash(values []string, order []uint8) uint64 {
	h := f.seed
	for _, i := range order {
		h = f.engine.hasher.add(h, values[i])
	}
	return h & f.engine.hashMask
}

// get returns the series with the values that order picks, making it if need
// be, or the family's overflow series when there is no room for it.
func (f *family) get(values []string, order []uint8) *series {
	h := f.hash(values, order)
	if s := f.find(h, values, order); s != nil {
		return s
	}
	return f.create(h, values, order)
}

func (f *family) create(hash uint64, values []string, order []uint8) *series {
	shard := f.engine.index.Shard(hash)
	shard.Lock()
	s := f.find(hash, values, order)
	if s == nil {
		s = f.add(shard, pack(values, order))
	}
	shard.Unlock()
	if s == nil {
		f.refused.Add(1)
		return f.overflowSeries()
	}
	return s
}

// add puts the series with these labels, which the locked shard does not hold,
// into it. It returns nil if there is no room.
func (f *family) add(shard *shard, labels string) *series {
	if !f.reserve() {
		return nil
	}
	s := f.engine.parked.take(f, labels)
	if s == nil {
		s = f.newSeries(labels)
	}
	shard.Insert(f.engine.index, s)
	return s
}

// reserve takes one place in the family and in the engine, or neither.
func (f *family) reserve() bool {
	if !takeBelow(&f.live, f.limit) {
		return false
	}
	if !takeBelow(&f.engine.live, f.engine.limits.Series) {
		f.live.Add(-1)
		return false
	}
	return true
}

func (f *family) release() {
	f.live.Add(-1)
	f.engine.live.Add(-1)
}

// takeBelow adds one to n unless that would exceed limit. An unconditional add,
// undone when too large, would make a concurrent caller see a full family that
// is not.
func takeBelow(n *atomic.Int64, limit int64) bool {
	for {
		v := n.Load()
		if v >= limit {
			return false
		}
		if n.CompareAndSwap(v, v+1) {
			return true
		}
	}
}

func (f *family) newSeries(labels string) *series {
	s := &series{fam: f, labels: labels, created: f.engine.age()}
	s.active.Store(s.created)
	m := more{prior: f.takeRestored(labels)}
	if f.kind == uniques {
		m.uniques = f.engine.newUniques(s)
	}
	if m != (more{}) {
		s.more.Store(&m)
	}
	f.engine.created.Add(1)
	return s
}

// overflowSeries returns the series that keeps the exact rest of a full family.
func (f *family) overflowSeries() *series {
	f.overflowOnce.Do(func() {
		desc, err := snapshot.NewDesc(f.desc.Name(), overflowLabel)
		if err != nil {
			panic(err) // the family's name passed before
		}
		o := &family{engine: f.engine, desc: desc, kind: f.kind}
		o.seed = f.engine.hasher.add(f.seed, overflowLabel)
		f.engine.adopt(o)
		values, order := []string{"true"}, []uint8{0}
		hash := o.hash(values, order)
		shard := f.engine.index.Shard(hash)
		shard.Lock()
		defer shard.Unlock()
		f.overflow = o.newSeries(pack(values, order))
		shard.Insert(f.engine.index, f.overflow)
	})
	return f.overflow
}

func (f *family) takeRestored(labels string) int64 {
	f.restoring.Lock()
	defer f.restoring.Unlock()
	n := f.restored.totals[labels]
	delete(f.restored.totals, labels)
	return n
}

func (f *family) takeSketches(labels string) []snapshot.Uniques {
	f.restoring.Lock()
	defer f.restoring.Unlock()
	rows := f.restored.sketches[labels]
	delete(f.restored.sketches, labels)
	return rows
}

// isOverflow reports whether f holds only an overflow series.
func (f *family) isOverflow() bool { return f.limit == 0 }

// family returns the family with this name, kind and set of label names,
// making it on first use. names may be in any order. It panics if the name was
// used with another kind or other labels.
func (e *Engine) family(k kind, name string, names []string) *family {
	if f := e.findFamily(name); f != nil {
		f.check(k, names)
		return f
	}
	if strings.HasPrefix(name, reservedPrefix) {
		panic(fmt.Sprintf("hotcount: metric name %q: the prefix %s is reserved for the engine's own series", name, reservedPrefix))
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if slices.Contains(sorted, overflowLabel) {
		panic(fmt.Sprintf("hotcount: metric %s: the label %s is reserved", name, overflowLabel))
	}
	desc, err := snapshot.NewDesc(name, sorted...)
	if err != nil {
		panic("hotcount: " + err.Error())
	}

	h := e.hashName(name)
	shard := e.families.Shard(h)
	shard.Lock()
	defer shard.Unlock()
	if f := e.findFamily(name); f != nil {
		f.check(k, names)
		return f
	}
	f := &family{engine: e, desc: desc, kind: k, seed: h, limit: e.limits.FamilySeries}
	e.adopt(f)
	shard.Insert(e.families, f)
	return f
}

func (e *Engine) hashName(name string) uint64 { return e.hasher.add(0, name) & e.hashMask }

func (e *Engine) findFamily(name string) *family {
	h := e.hashName(name)
	slots := e.families.Shard(h).Slots()
	if len(slots) == 0 {
		return nil
	}
	mask := uint64(len(slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		f := slots[i].Load()
		if f == nil || f.desc.Name() == name {
			return f
		}
	}
}

// check panics unless the family has this kind and these label names.
func (f *family) check(k kind, names []string) {
	if f.kind != k {
		panic(fmt.Sprintf("hotcount: %s is a %s, not a %s", f.desc.Name(), f.kind, k))
	}
	if len(names) == len(f.desc.Labels()) {
		known := 0
		for _, l := range f.desc.Labels() {
			if slices.Contains(names, l) {
				known++
			}
		}
		if known == len(names) {
			return
		}
	}
	panic(fmt.Sprintf("hotcount: %s has labels %q, not %q", f.desc.Name(), f.desc.Labels(), names))
}
