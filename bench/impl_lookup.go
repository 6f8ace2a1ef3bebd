package bench

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bench/internal/work"
)

// lookupImpls find a counter by two label values, each time, and add one. What
// they keep of the values are copies, as values are parts of requests: a map whose
// keys are the very strings that are looked up would not have to compare them.
func lookupImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: newEngineLookup},
		{Name: "syncmap", New: func(l Layout) (Counters, error) { return &labelled{labels: work.Labels(l.Keys)}, nil }},
		{Name: "mutexmap", New: func(l Layout) (Counters, error) {
			return &lockedMap{labels: work.Labels(l.Keys), counts: make(map[[2]string]*int64, l.Keys)}, nil
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
		c, _ = m.m.LoadOrStore(copied(labels), new(atomic.Int64))
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

func copied(labels [2]string) [2]string {
	return [2]string{strings.Clone(labels[0]), strings.Clone(labels[1])}
}

// lockedMap is a map from label values to counts behind a mutex.
type lockedMap struct {
	mu     sync.Mutex
	counts map[[2]string]*int64
	labels [][2]string
}

// of returns a count. The caller has the lock.
func (m *lockedMap) of(labels [2]string) *int64 {
	c := m.counts[labels]
	if c == nil {
		c = new(int64)
		m.counts[copied(labels)] = c
	}
	return c
}

func (m *lockedMap) inc(labels [2]string) {
	m.mu.Lock()
	*m.of(labels)++
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
	return Compare(adds, func(key int) int64 { return *m.of(m.labels[key]) })
}
