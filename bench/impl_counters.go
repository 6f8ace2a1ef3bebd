package bench

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/hotcount/hotcount/bench/internal/work"
	"github.com/hotcount/hotcount/stripe"
)

// counterImpls are the counters that need no other module. Peers have theirs in
// package peers.
func counterImpls() []Impl {
	return []Impl{
		{Name: "hotcount", New: newStriped, Striped: true},
		{Name: "atomic", New: func(l Layout) (Counters, error) { return atomics(work.Cells[atomic.Int64](l.Keys)), nil }},
		{Name: "mutex", New: func(l Layout) (Counters, error) { return mutexes(work.Cells[mutexed](l.Keys)), nil }},
		{Name: "syncmap", New: newNamed},
	}
}

func newStriped(l Layout) (Counters, error) {
	if l.Stripes == 0 && l.Pick == stripe.Auto {
		return adaptive(work.Cells[stripe.Counter](l.Keys)), nil
	}
	cs := make(fixed, l.Keys)
	for i := range cs {
		c, err := stripe.New(stripe.Options{Stripes: l.Stripes, Pick: l.Pick})
		if err != nil {
			return nil, err
		}
		cs[i] = c
	}
	return cs, nil
}

// adaptive are zero counters, which go hot by themselves.
type adaptive []stripe.Counter

func (a adaptive) Incs(n int) {
	c := &a[0]
	for range n {
		c.Inc()
	}
}

func (a adaptive) Run(steps []Step) {
	for _, s := range steps {
		c := &a[s.Key()]
		if s.Read() {
			c.Value()
		} else {
			c.Inc()
		}
	}
}

func (a adaptive) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return a[key].Value() })
}

func (a adaptive) Shares() []float64 { return shares(a[0].Stats().Stripes) }

// fixed are counters that are made with their stripes.
type fixed []*stripe.Counter

func (f fixed) Incs(n int) {
	c := f[0]
	for range n {
		c.Inc()
	}
}

func (f fixed) Run(steps []Step) {
	for _, s := range steps {
		c := f[s.Key()]
		if s.Read() {
			c.Value()
		} else {
			c.Inc()
		}
	}
}

func (f fixed) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return f[key].Value() })
}

func (f fixed) Shares() []float64 { return shares(f[0].Stats().Stripes) }

// shares returns the counts as parts of their sum, nil if that is 0.
func shares(counts []int64) []float64 {
	var sum float64
	for _, n := range counts {
		sum += float64(n)
	}
	if sum == 0 {
		return nil
	}
	parts := make([]float64, len(counts))
	for i, n := range counts {
		parts[i] = float64(n) / sum
	}
	return parts
}

type atomics []atomic.Int64

func (a atomics) Incs(n int) {
	c := &a[0]
	for range n {
		c.Add(1)
	}
}

func (a atomics) Run(steps []Step) {
	for _, s := range steps {
		c := &a[s.Key()]
		if s.Read() {
			c.Load()
		} else {
			c.Add(1)
		}
	}
}

func (a atomics) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return a[key].Load() })
}

type mutexed struct {
	sync.Mutex
	n int64
}

func (m *mutexed) value() int64 {
	m.Lock()
	defer m.Unlock()
	return m.n
}

type mutexes []mutexed

func (m mutexes) Incs(n int) {
	c := &m[0]
	for range n {
		c.Lock()
		c.n++
		c.Unlock()
	}
}

func (m mutexes) Run(steps []Step) {
	for _, s := range steps {
		c := &m[s.Key()]
		if s.Read() {
			c.value()
			continue
		}
		c.Lock()
		c.n++
		c.Unlock()
	}
}

func (m mutexes) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return m[key].value() })
}

// named is the map that people write themselves, from a name to an atomic.
type named struct {
	m     sync.Map
	names []string
}

func newNamed(l Layout) (Counters, error) {
	n := &named{names: make([]string, l.Keys)}
	for i := range n.names {
		n.names[i] = "counter-" + strconv.Itoa(i)
		n.m.Store(n.names[i], new(atomic.Int64))
	}
	return n, nil
}

func (n *named) of(name string) *atomic.Int64 {
	c, ok := n.m.Load(name)
	if !ok {
		c, _ = n.m.LoadOrStore(name, new(atomic.Int64))
	}
	return c.(*atomic.Int64)
}

func (n *named) Incs(times int) {
	name := n.names[0]
	for range times {
		n.of(name).Add(1)
	}
}

func (n *named) Run(steps []Step) {
	for _, s := range steps {
		c := n.of(n.names[s.Key()])
		if s.Read() {
			c.Load()
		} else {
			c.Add(1)
		}
	}
}

func (n *named) Verify(adds []int64) error {
	return Compare(adds, func(key int) int64 { return n.of(n.names[key]).Load() })
}
