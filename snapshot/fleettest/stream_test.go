package fleettest

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/hotcount/hotcount"
)

// A stream is what one run of one process counts. It is known in advance.
type stream struct{ process, run int }

// batchSize is how many adds there are between two marks in the journal.
const batchSize = 20

// An add is one step of a stream.
type add struct {
	series  int
	n       int64
	element string // of the distinct count
}

// The series of the processes: one without labels, some with two, and some that
// go up and down.
const (
	plainSeries   = 1
	labelled      = 900
	upAndDown     = 10
	seriesCount   = plainSeries + labelled + upAndDown
	groups        = 3 // of labelled series, which are idle in turns
	groupLasts    = 800
	elementsCount = 200_000
)

// batch returns the adds of batch k.
func (s stream) batch(k uint64) []add {
	rng := rand.New(rand.NewPCG(uint64(s.process)<<32|uint64(s.run), k))
	adds := make([]add, batchSize)
	for i := range adds {
		a := add{element: strconv.FormatInt(rng.Int64N(elementsCount), 36)}
		switch rng.IntN(4) {
		case 0:
			a.series, a.n = 0, rng.Int64N(1<<20)
		case 1:
			a.series, a.n = plainSeries+labelled+rng.IntN(upAndDown), 1-2*rng.Int64N(2)
		default:
			const each = labelled / groups
			a.series, a.n = plainSeries+int(k/groupLasts%groups)*each+rng.IntN(each), 1+rng.Int64N(9)
		}
		adds[i] = a
	}
	return adds
}

// counter returns the counter of a series.
func counter(e *hotcount.Engine, series int) *hotcount.Counter {
	switch n := series - plainSeries; {
	case n < 0:
		return e.Counter("fleet_bytes_total")
	case n < labelled: // values that stores find hard
		return e.Counter("fleet_requests_total", "route", fmt.Sprintf("/%d/{id}:\x00\xff'", n/2), "code", strconv.Itoa(200+n%2))
	default:
		return e.Counter("fleet_open", "pool", strconv.Itoa(n-labelled))
	}
}

// A counting adds to an engine. Every other series keeps its handle.
type counting struct {
	engine   *hotcount.Engine
	handles  [seriesCount]*hotcount.Counter
	visitors *hotcount.Uniques
}

func newCounting(e *hotcount.Engine) *counting {
	return &counting{engine: e, visitors: e.Uniques("fleet_visitors", "site", "a")}
}

func (c *counting) add(a add) {
	h := c.handles[a.series]
	if h == nil {
		if h = counter(c.engine, a.series); a.series%2 == 0 {
			c.handles[a.series] = h
		}
	}
	h.Add(a.n)
	c.visitors.AddString(a.element)
}
