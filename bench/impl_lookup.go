package bench

import (
	"sync"
	"sync/atomic"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// lookupImpls find a counter by two label values, each time, and add one.
func lookupImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: newEngineLookup},
		{Name: "syncmap", New: func(l Layout) (Counters, error) { return &labelled{labels: work.Labels(l.Keys)}, nil }},
		{Name: "mutexmap", New: func(l Layout) (Counters, error) {
			return &lockedMap{labels: work.Labels(l.Keys), counts: make(map[[2]string]int64, l.Keys)}, nil
		}},
	}
}

type engineLookup struct {
	vec    *hotcount.CounterVec
	labels [][2]string
}

func newEngineLookup(l Layout) (Counters, error) {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		return nil, err
	}
	return &engineLookup{e.CounterVec("http_requests_total", "method", "route"), work.Labels(l.Keys)}, nil
}

func (e *engineLookup) Incs(n int) {
	l := e.labels[0]
	for range n {
		e.vec.With(l[0], l[1]).Inc()
	}
}

func (e *engineLookup) Run(steps []Step) {
	for _, s := range steps {
		l := &e.labels[s.Key()]
		e.vec.With(l[0], l[1]).Inc()
	}
}

func (e *engineLookup) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return e.vec.With(e.labels[key][0], e.labels[key][1]).Value() })
}

// labelled is a sync.Map from label values to atomics.
type labelled struct {
	m      sync.Map
	labels [][2]string
}

func (m *labelled) of(labels [2]string) *atomic.Int64 {
	c, ok := m.m.Load(labels)
	if !ok {
		c, _ = m.m.LoadOrStore(labels, new(atomic.Int64))
	}
	return c.(*atomic.Int64)
}

func (m *labelled) Incs(n int) {
	l := m.labels[0]
	for range n {
		m.of(l).Add(1)
	}
}

func (m *labelled) Run(steps []Step) {
	for _, s := range steps {
		m.of(m.labels[s.Key()]).Add(1)
	}
}

func (m *labelled) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return m.of(m.labels[key]).Load() })
}

// lockedMap is a map from label values to counts behind a mutex.
type lockedMap struct {
	mu     sync.Mutex
	counts map[[2]string]int64
	labels [][2]string
}

func (m *lockedMap) inc(labels [2]string) {
	m.mu.Lock()
	m.counts[labels]++
	m.mu.Unlock()
}

func (m *lockedMap) Incs(n int) {
	l := m.labels[0]
	for range n {
		m.inc(l)
	}
}

func (m *lockedMap) Run(steps []Step) {
	for _, s := range steps {
		m.inc(m.labels[s.Key()])
	}
}

func (m *lockedMap) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return m.counts[m.labels[key]] })
}
