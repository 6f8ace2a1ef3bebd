package web

import (
	"hash/maphash"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/index"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// maxTallies bounds the combinations of method, route and code that have series
// of their own, since Options.Route may return anything. A combination takes
// about 600 bytes, and as much as 3 kB with a request in each second of a minute.
const maxTallies = 4096

// A tally is the series of one combination of method, route and code.
type tally struct {
	tallyID
	requests    *hotcount.Counter
	nanoseconds *hotcount.Counter
	read        *hotcount.Counter
	written     *hotcount.Counter
	longest     *window.Max
}

type tallyID struct {
	route  string
	code   int // a class, such as 2, or exact
	method method
}

// tallies finds the tally of a request without a lock.
type tallies struct {
	requests, nanoseconds, read, written *hotcount.CounterVec
	gauge                                series.Desc
	window                               window.Options // of longest

	exact bool // codes rather than their classes
	seed  maphash.Seed
	n     atomic.Int64
	index *index.Index[tally]
}

func newTallies(e *hotcount.Engine, o Options, gauge series.Desc) *tallies {
	vec := func(suffix string) *hotcount.CounterVec {
		return e.CounterVec(o.Name+suffix, "method", "route", "code")
	}
	t := &tallies{
		requests:    vec(requestsSuffix),
		nanoseconds: vec("_request_duration_nanoseconds_total"),
		read:        vec("_request_bytes_total"),
		written:     vec("_response_bytes_total"),
		gauge:       gauge,
		window:      o.Window,
		exact:       o.ExactCodes,
		seed:        maphash.MakeSeed(),
	}
	t.window.Sampler = e.Sampler()
	t.index = index.New(func(one *tally) uint64 { return t.hash(one.tallyID) })
	return t
}

// of returns the tally of a request. code is exact.
func (t *tallies) of(m method, route string, code int) *tally {
	id := tallyID{route, code, m}
	if !t.exact {
		id.code /= 100
	}
	h := t.hash(id)
	if found := t.find(h, id); found != nil {
		return found
	}
	return t.make(h, id)
}

func (t *tallies) find(h uint64, id tallyID) *tally {
	probe := t.index.Shard(h).Probe(h)
	for {
		one := probe.Next()
		if one == nil || one.tallyID == id {
			return one
		}
	}
}

func (t *tallies) hash(id tallyID) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: spreads small numbers over all bits
	return maphash.String(t.seed, id.route) ^ odd*uint64(id.code<<8|int(id.method))
}

func (t *tallies) make(h uint64, id tallyID) *tally {
	if id.route != otherWord && t.n.Load() >= maxTallies {
		id.route = otherWord
		h = t.hash(id)
	}
	shard := t.index.Shard(h)
	shard.Lock()
	defer shard.Unlock()
	if found := t.find(h, id); found != nil {
		return found
	}
	longest, err := window.NewMax(t.window)
	if err != nil {
		panic(err) // NewMiddleware has tried the options
	}
	method, route, code := methods[id.method], id.route, t.codeText(id.code)
	one := &tally{
		tallyID:     id,
		requests:    t.requests.With(method, route, code),
		nanoseconds: t.nanoseconds.With(method, route, code),
		read:        t.read.With(method, route, code),
		written:     t.written.With(method, route, code),
		longest:     longest,
	}
	shard.Insert(t.index, one)
	t.n.Add(1)
	return one
}

func (t *tallies) codeText(code int) string {
	if t.exact {
		return strconv.Itoa(code)
	}
	return strconv.Itoa(code) + "xx"
}

// appendGauges appends the longest duration of each tally that had a request in
// the window.
func (t *tallies) appendGauges(dst []snapshot.GaugeRow, d time.Duration) []snapshot.GaugeRow {
	for one := range t.index.All {
		if longest := one.longest.Last(d); longest.OK {
			dst = append(dst, snapshot.GaugeRow{
				Key:   t.gauge.Key(t.codeText(one.code), methods[one.method], one.route),
				Value: time.Duration(longest.Value).Seconds(),
			})
		}
	}
	return dst
}
