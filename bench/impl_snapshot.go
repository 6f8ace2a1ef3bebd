package bench

import (
	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/snapshot"
)

// snapshotImpls add to series of a registry while somebody reads all of it out,
// one time after the other.
func snapshotImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: func(l Layout) (Counters, error) { return newExported(l, true) }},
		{Name: "hotcount-unread", New: func(l Layout) (Counters, error) { return newExported(l, false) }},
	}
}

// exported are handles of an engine, which may be read out.
type exported struct {
	engine  *hotcount.Engine
	handles []*hotcount.Counter
	reader  *work.Repeater // nil for none
}

func newExported(l Layout, read bool) (*exported, error) {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		return nil, err
	}
	x := &exported{engine: e, handles: make([]*hotcount.Counter, l.Keys)}
	vec := e.CounterVec("views_total", "post")
	for i := range work.Series {
		c := vec.With(work.SeriesName(i))
		if i < l.Keys {
			x.handles[i] = c
		}
	}
	if read {
		var s snapshot.Snapshot
		x.reader = work.Repeat(func() { e.Snapshot(&s) })
	}
	return x, nil
}

func (x *exported) Incs(n int) {
	c := x.handles[0]
	for range n {
		c.Inc()
	}
}

func (x *exported) Run(steps []Step) {
	for _, s := range steps {
		x.handles[s.Key()].Inc()
	}
}

// Verify takes the counts from a snapshot.
func (x *exported) Verify(adds []int64) error {
	var s snapshot.Snapshot
	x.engine.Snapshot(&s)
	counts := make(map[string]int64, work.Series)
	for row := range s.AllCounters() {
		if row.Key.Name() == "views_total" {
			counts[row.Key.Label("post")] = row.Value
		}
	}
	return Compare(adds, func(key int) int64 { return counts[work.SeriesName(key)] })
}

func (x *exported) Workers() int {
	if x.reader == nil {
		return 0
	}
	return x.reader.Workers()
}

func (x *exported) Close() {
	if x.reader != nil {
		x.reader.Close()
	}
}
