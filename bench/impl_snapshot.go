package bench

import (
	"strconv"
	"sync"

	"github.com/hotcount/hotcount"
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

// SnapshotSeries is how many series the registry has that is read out.
const SnapshotSeries = 10_000

// SeriesName returns the label value of series i of that registry.
func SeriesName(i int) string { return "post-" + strconv.Itoa(i) }

// A Repeater calls a function again and again, until Close.
type Repeater struct {
	stop    chan struct{}
	stopped sync.WaitGroup
}

// Repeat starts to call f.
func Repeat(f func()) *Repeater {
	r := &Repeater{stop: make(chan struct{})}
	r.stopped.Go(func() {
		for {
			select {
			case <-r.stop:
				return
			default:
				f()
			}
		}
	})
	return r
}

// Workers is 1: the goroutine that calls.
func (r *Repeater) Workers() int { return 1 }

// Close returns when the last call has.
func (r *Repeater) Close() {
	close(r.stop)
	r.stopped.Wait()
}

// exported are handles of an engine, which may be read out.
type exported struct {
	engine  *hotcount.Engine
	handles []*hotcount.Counter
	reader  *Repeater // nil for none
}

func newExported(l Layout, read bool) (*exported, error) {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		return nil, err
	}
	x := &exported{engine: e, handles: make([]*hotcount.Counter, l.Keys)}
	vec := e.CounterVec("views_total", "post")
	for i := range SnapshotSeries {
		c := vec.With(SeriesName(i))
		if i < l.Keys {
			x.handles[i] = c
		}
	}
	if read {
		var s snapshot.Snapshot
		x.reader = Repeat(func() { e.Snapshot(&s) })
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
	counts := make(map[string]int64, SnapshotSeries)
	for row := range s.AllCounters() {
		if row.Key.Name() == "views_total" {
			counts[row.Key.Label("post")] = row.Value
		}
	}
	return Compare(adds, func(key int) int64 { return counts[SeriesName(key)] })
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
