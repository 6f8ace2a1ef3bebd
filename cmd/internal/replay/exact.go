package replay

import (
	"sync"

	"github.com/hotcount/hotcount/cmd/internal/accesslog"
)

// Exact counts what a Tally counts, with plain maps under one mutex and without
// limits. It is what a Tally is checked against, and the baseline of the
// benchmarks. The maps hold pointers because m[string(b)]++ would make a string
// for every line.
type Exact struct {
	mu              sync.Mutex
	lines, bad      int64
	bytes           int64
	statuses        map[int]*int64
	methods, byPath map[string]*int64
	hours           map[int64]*int64
	clients         map[string]struct{}
	clientsByHour   map[int64]map[string]struct{}
}

// NewExact returns an Exact that has counted nothing.
func NewExact() *Exact {
	return &Exact{
		statuses: make(map[int]*int64),
		methods:  make(map[string]*int64),
		byPath:   make(map[string]*int64),
		hours:    make(map[int64]*int64),

		clients:       make(map[string]struct{}),
		clientsByHour: make(map[int64]map[string]struct{}),
	}
}

func (e *Exact) malformed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines++
	e.bad++
}

func (e *Exact) line(r *accesslog.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines++
	e.bytes += r.Size
	increment(e.statuses, r.Status)
	incrementBytes(e.methods, methodOf(r))
	incrementBytes(e.byPath, pathOf(r))
	hour := hourOf(r)
	increment(e.hours, hour)
	insert(e.clients, r.Client)
	if e.clientsByHour[hour] == nil {
		e.clientsByHour[hour] = make(map[string]struct{})
	}
	insert(e.clientsByHour[hour], r.Client)
}

func (e *Exact) flush() {}

func increment[K comparable](m map[K]*int64, key K) {
	n, ok := m[key]
	if !ok {
		n = new(int64)
		m[key] = n
	}
	*n++
}

func incrementBytes(m map[string]*int64, key []byte) {
	n, ok := m[string(key)] // no string is made for this
	if !ok {
		n = new(int64)
		m[string(key)] = n
	}
	*n++
}

func insert(set map[string]struct{}, element []byte) {
	if _, ok := set[string(element)]; !ok { // no string is made for this
		set[string(element)] = struct{}{}
	}
}

// Counts returns what was counted. Nothing may be counting meanwhile.
func (e *Exact) Counts() Counts {
	c := newCounts()
	c.series[linesTotal][""] = e.lines
	c.series[malformedTotal][""] = e.bad
	c.series[bytesTotal][""] = e.bytes
	for status, n := range e.statuses {
		c.series[statusTotal][formatStatus(status)] = *n
	}
	for method, n := range e.methods {
		c.series[methodTotal][method] = *n
	}
	for path, n := range e.byPath {
		c.series[pathTotal][path] = *n
	}
	for hour, n := range e.hours {
		c.series[hourTotal][formatHour(hour)] = *n
	}
	return c
}
