package hotcount

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hotcount/hotcount/internal/unit"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

// overflowLabel is the one label of an overflow series. It is reserved, so that
// no caller's series can be taken for one.
const overflowLabel = "hotcount_overflow"

// IsOverflow reports whether k is the overflow series of a full family, which
// has the one label hotcount_overflow="true"; see Limits.
func IsOverflow(k series.Key) bool {
	return k.Label(overflowLabel) == "true"
}

// IsHealth reports whether k is one of the engine's own series, which the package
// comment lists and whose names begin with hotcount_.
func IsHealth(k series.Key) bool { return strings.HasPrefix(k.Name(), reservedPrefix) }

// reservedPrefix begins the names of the engine's own health series.
const reservedPrefix = "hotcount_"

type kind uint8

const (
	counters kind = iota
	uniques
	events         // a window.Events, without series
	uniquesWindows // a window.Uniques, without series
)

func (k kind) String() string {
	return [...]string{"counter", "uniques", "events", "uniques window"}[k]
}

// A family is what the series of one name share.
type family struct {
	engine *Engine
	desc   series.Desc
	labels []string // of desc, sorted by name
	kind   kind
	seed   uint64 // sets apart equal label values of different families
	limit  int64
	amount bool // its counts are sums of a unit, not numbers of adds

	restored *restored                      // what earlier runs counted in it
	windows  atomic.Pointer[window.Options] // of each of its series; nil for none

	_ [lineSize]byte // every look-up reads what is above

	live         atomic.Int64   // series in the index
	refused      stripe.Counter // look-ups that got the overflow series
	overflowOnce sync.Once
	overflow     *entry // exempt from limits and eviction
}

// find returns the series with the values that order picks, or nil. A nil is no
// proof that there is none unless the shard is locked; see package index.
func (f *family) find(hash uint64, values []string, order []uint8) *entry {
	probe := f.engine.index.Shard(hash).Probe(hash)
	for {
		s := probe.Next()
		if s == nil || s.fam == f && matches(s.labels, values, order) {
			return s
		}
	}
}

// findPacked is find for values that are packed already.
func (f *family) findPacked(hash uint64, labels string) *entry {
	probe := f.engine.index.Shard(hash).Probe(hash)
	for {
		s := probe.Next()
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
	return f.engine.hasher.finish(h)
}

// get returns the series with the values that order picks, making it if need
// be, or the family's overflow series when there is no room for it.
func (f *family) get(values []string, order []uint8) *entry {
	h := f.hash(values, order)
	if s := f.find(h, values, order); s != nil {
		return s
	}
	return f.create(h, values, order)
}

func (f *family) create(hash uint64, values []string, order []uint8) *entry {
	shard := f.engine.index.Shard(hash)
	shard.Lock()
	s := f.find(hash, values, order)
	if s == nil && fits(values, order) {
		s = f.add(shard, pack(values, order))
	}
	shard.Unlock()
	if s == nil {
		f.refused.Inc()
		s = f.overflowSeries()
	}
	f.engine.logWarnings()
	return s
}

// maxLabelBytes bounds the label values of one series together: few servers accept
// more than 64 KiB as a request's head, and a row of that size still fits into a
// message of the stores.
const maxLabelBytes = 64 << 10

// fits reports whether the values that order picks may become a series.
func fits(values []string, order []uint8) bool {
	room := maxLabelBytes
	for _, i := range order {
		if room -= len(values[i]); room < 0 {
			return false
		}
	}
	return true
}

// add puts the series with these labels, which the locked shard does not hold,
// into it. It returns nil if there is no room.
func (f *family) add(shard *shard, labels string) *entry {
	if !f.reserve(labels) {
		return nil
	}
	if s := f.engine.parked.take(f, labels); s != nil {
		shard.Insert(f.engine.index, s)
		f.openWindow(s)
		return s
	}
	return f.insertNew(shard, labels)
}

func (f *family) insertNew(shard *shard, labels string) *entry {
	age := f.engine.age()
	s := &entry{fam: f, labels: labels, created: max(age, f.engine.notBefore.Load())}
	s.active.Store(age)
	var m more
	if f.kind == uniques {
		m.uniques = f.engine.newUniques(s)
	} else {
		m.prior = f.restored.total(labels)
	}
	if m != (more{}) {
		s.more.Store(&m)
	}
	shard.Insert(f.engine.index, s)
	f.restored.takenUp(f.kind, labels)
	f.openWindow(s)
	f.engine.created.Add(1)
	return s
}

// reserve takes one place in the family and in the engine, and room for labels, or
// nothing.
func (f *family) reserve(labels string) bool {
	e, size := f.engine, int64(len(labels))
	if !takeBelow(&f.live, 1, f.limit) {
		return false
	}
	if !takeBelow(&e.live, 1, e.limits.Series) {
		f.live.Add(-1)
		return false
	}
	if !takeBelow(&e.labelBytes, size, e.limits.LabelBytes) {
		f.live.Add(-1)
		e.live.Add(-1)
		return false
	}
	return true
}

// hold is reserve whatever the limits say.
func (f *family) hold(labels string) {
	f.live.Add(1)
	f.engine.live.Add(1)
	f.engine.labelBytes.Add(int64(len(labels)))
}

func (f *family) release(labels string) {
	f.live.Add(-1)
	f.engine.live.Add(-1)
	f.engine.labelBytes.Add(-int64(len(labels)))
}

// takeBelow adds k to n unless that would exceed limit. An unconditional add, undone
// when too large, would make a concurrent caller see a full family that is not.
func takeBelow(n *atomic.Int64, k, limit int64) bool {
	for {
		v := n.Load()
		if v > limit-k {
			return false
		}
		if n.CompareAndSwap(v, v+k) {
			return true
		}
	}
}

// overflowSeries returns the series that keeps the exact rest of a full family.
func (f *family) overflowSeries() *entry {
	f.overflowOnce.Do(func() {
		desc, err := series.NewDesc(f.desc.Name(), overflowLabel)
		if err != nil {
			panic(err) // the family's name passed before
		}
		o := f.engine.newFamily(desc, f.kind, f.engine.hasher.add(f.seed, overflowLabel))
		values, order := []string{"true"}, []uint8{0}
		hash := o.hash(values, order)
		shard := f.engine.index.Shard(hash)
		shard.Lock()
		defer shard.Unlock()
		f.overflow = o.insertNew(shard, pack(values, order))
	})
	return f.overflow
}

// isOverflow reports whether f holds only an overflow series.
func (f *family) isOverflow() bool { return f.limit == 0 }

// family is openFamily for names that the program itself chose: it panics if
// there is no such family.
func (e *Engine) family(k kind, name string, names []string) *family {
	f, err := e.openFamily(k, name, names)
	if err != nil {
		panic("hotcount: " + err.Error())
	}
	return f
}

// openFamily returns the family with this name, kind and set of label names,
// making it on first use. names may be in any order. The error, which leaves
// out the package, says that the name was used with another kind or other
// labels, or that a name is reserved or invalid.
func (e *Engine) openFamily(k kind, name string, names []string) (*family, error) {
	if f := e.findFamily(name); f != nil {
		return f, f.mismatch(k, names)
	}
	if strings.HasPrefix(name, reservedPrefix) {
		return nil, fmt.Errorf("metric name %q: the prefix %s is reserved for the engine's own series", name, reservedPrefix)
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if slices.Contains(sorted, overflowLabel) {
		return nil, fmt.Errorf("metric %s: the label %s is reserved", name, overflowLabel)
	}
	desc, err := series.NewDesc(name, sorted...)
	if err != nil {
		return nil, err
	}

	h := e.hashName(name)
	shard := e.families.Shard(h)
	shard.Lock()
	defer shard.Unlock()
	if f := e.findFamily(name); f != nil {
		return f, f.mismatch(k, names)
	}
	f := e.newFamily(desc, k, h)
	f.limit = e.limits.FamilySeries
	shard.Insert(e.families, f)
	return f, nil
}

func (e *Engine) newFamily(d series.Desc, k kind, seed uint64) *family {
	return &family{
		engine: e, desc: d, labels: slices.Collect(d.Labels()), kind: k, seed: seed,
		amount: unit.IsAmount(d.Name()), restored: e.restored[d],
	}
}

// hashName returns the hash of a family, which is the seed of its series'.
func (e *Engine) hashName(name string) uint64 {
	return e.hasher.finish(e.hasher.add(e.hasher.tail, name))
}

func (e *Engine) findFamily(name string) *family {
	h := e.hashName(name)
	probe := e.families.Shard(h).Probe(h)
	for {
		f := probe.Next()
		if f == nil || f.desc.Name() == name {
			return f
		}
	}
}

// check panics unless the family has this kind and these label names.
func (f *family) check(k kind, names []string) {
	if err := f.mismatch(k, names); err != nil {
		panic("hotcount: " + err.Error())
	}
}

// mismatch returns an error unless the family has this kind and these label
// names, in any order.
func (f *family) mismatch(k kind, names []string) error {
	if f.kind != k {
		return fmt.Errorf("%s is a %s, not a %s", f.desc.Name(), f.kind, k)
	}
	if len(names) == len(f.labels) {
		known := 0
		for _, l := range f.labels {
			if slices.Contains(names, l) {
				known++
			}
		}
		if known == len(names) {
			return nil
		}
	}
	return fmt.Errorf("%s has labels %q, not %q", f.desc.Name(), f.labels, names)
}
