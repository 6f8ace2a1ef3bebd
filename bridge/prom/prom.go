package prom

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hotcount/hotcount"
)

// Options say how a Collector shows an engine. The zero value is ready to use.
type Options struct {
	// Help has the HELP texts of metrics, by the names that they have in
	// the engine. Engines in one registry must agree on them.
	Help map[string]string

	// UpDown names the counters that may fall, as they are named in the
	// engine. They are shown as gauges.
	UpDown []string
}

// A Collector is a prometheus.Collector over an engine. All methods are safe
// for concurrent use, and scrapes do not wait for each other.
type Collector struct {
	engine *hotcount.Engine
	names  names
	spare  atomic.Pointer[scratch] // nil while a scrape has it
}

// scratch is memory that one scrape leaves for the next.
type scratch struct {
	view hotcount.View
	rows []row
}

// New returns a collector over an engine, to be registered once with a
// registry. It goes on to work when the engine is closed.
func New(e *hotcount.Engine, o Options) *Collector {
	c := &Collector{engine: e}
	c.names.init(o)
	return c
}

// Describe implements prometheus.Collector. It sends nothing: a program may
// make metrics at any time, so the collector is what Prometheus calls
// unchecked.
func (c *Collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	mem := c.spare.Swap(nil)
	if mem == nil {
		mem = new(scratch)
	}
	c.engine.View(&mem.view)
	mem.rows = inOrder(mem.rows, mem.view.Counters)
	s := scrape{ch: ch, scratch: mem, names: &c.names, known: *c.names.known.Load()}
	s.counters()
	s.uniques()
	s.events()
	s.uniquesWindows()
	s.health()
	s.hidden()
	mem.release()
	c.spare.Store(mem)
}

// release lets go of what was shown, so that series can leave before the next
// scrape.
func (m *scratch) release() {
	clear(m.view.Counters)
	clear(m.view.Uniques)
	clear(m.view.Events)
	clear(m.view.UniquesWindows)
	clear(m.rows)
	m.rows = m.rows[:0]
}
