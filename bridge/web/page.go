package web

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// A page is the first few of the series that a query selects, in the order of
// their keys' text. It never holds more than about twice as many, however many
// series the engine has.
type page struct {
	query query
	taken time.Time
	items []item
	next  string // the last key if there are more series after it

	size  int    // of the items' keys
	bound string // once there are more than enough, no key from here on is wanted
	text  []byte // of the key that is looked at
}

// maxKeys bounds the keys of a page, in bytes: strangers may have chosen labels of
// 64 KiB.
const maxKeys = 8 << 20

// An item is a series of a page: something that describe knows.
type item struct {
	key  string
	what any
}

// leftover is the total of a counter that earlier runs left.
type leftover struct {
	key   series.Key
	total int64
}

// A source is what pages are taken of.
type source struct {
	engine      *hotcount.Engine
	middlewares []*Middleware
	turn        chan struct{} // holds one token while a page is taken
	views       sync.Pool     // a view is 48 bytes a series, and more to grow
}

func newSource(e *hotcount.Engine, m []*Middleware) *source {
	return &source{
		engine:      e,
		middlewares: slices.Clone(m),
		turn:        make(chan struct{}, 1),
		views:       sync.Pool{New: func() any { return new(hotcount.View) }},
	}
}

// page returns the page that q asks for. One is taken at a time, so that many
// readers at once need one view of the engine. Each holds its own page until that
// is written. The error is that of ctx.
func (s *source) page(ctx context.Context, q query) (*page, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p := &page{query: q}
	v := s.views.Get().(*hotcount.View)
	defer s.views.Put(v)
	s.engine.View(v)
	p.taken = v.Taken
	p.addView(v)
	for _, m := range s.middlewares {
		p.addGauges(m.Gauges())
	}
	if s.engine.Restored().Series > 0 {
		// These hold the view's counters, too, which went before them and
		// so are the ones that stay. A retired series has nothing to show.
		for k, n := range s.engine.Totals() {
			if key, ok := p.wants(k); ok && n != 0 {
				p.add(key, leftover{k, n})
			}
		}
	}
	p.trim()
	if n := p.room(); n < len(p.items) {
		p.items = p.items[:n]
		p.next = p.items[n-1].key
	}
	return p, nil
}

func (p *page) addView(v *hotcount.View) {
	for _, c := range v.Counters {
		if key, ok := p.wants(c.Key()); ok {
			p.add(key, c)
		}
	}
	for _, u := range v.Uniques {
		if key, ok := p.wants(u.Key()); ok {
			p.add(key, u)
		}
	}
	for _, e := range v.Events {
		if key, ok := p.wants(e.Key); ok {
			p.add(key, e)
		}
	}
	for _, u := range v.UniquesWindows {
		if key, ok := p.wants(u.Key); ok {
			p.add(key, u)
		}
	}
	for _, c := range v.Health {
		if key, ok := p.wants(c.Key); ok {
			p.add(key, c)
		}
	}
	p.addGauges(v.Gauges)
}

func (p *page) addGauges(gauges []snapshot.GaugeRow) {
	for _, g := range gauges {
		if key, ok := p.wants(g.Key); ok {
			p.add(key, g)
		}
	}
}

// wants returns the text of a key, and whether its series is of the page as far
// as is known by now. Keys that differ have texts that do.
func (p *page) wants(k series.Key) (key string, ok bool) {
	p.text = k.AppendText(p.text[:0])
	text := p.text
	if bytes.ContainsRune(text, utf8.RuneError) { // an invalid byte, too
		text = []byte(series.ToValidUTF8(string(text)))
	}
	if string(text) <= p.query.after || p.bound != "" && string(text) >= p.bound {
		return "", false
	}
	if !strings.HasPrefix(string(text), p.query.prefix) {
		return "", false
	}
	return string(text), true
}

func (p *page) add(key string, what any) {
	p.items = append(p.items, item{key, what})
	p.size += len(key)
	const slack = 64 // a page of one series need not be sorted for each that comes
	if len(p.items) >= 2*p.query.limit+slack || p.size >= 2*maxKeys {
		p.trim()
	}
}

// trim sorts the page, leaves the first of each key, and one item more than there
// is room for.
func (p *page) trim() {
	slices.SortStableFunc(p.items, func(a, b item) int { return cmp.Compare(a.key, b.key) })
	p.items = slices.CompactFunc(p.items, func(a, b item) bool { return a.key == b.key })
	if n := p.room(); n < len(p.items) {
		clear(p.items[n+1:])
		p.items = p.items[:n+1]
		p.bound = p.items[n].key
	}
	p.size = 0
	for _, it := range p.items {
		p.size += len(it.key)
	}
}

// room returns how many of the items, which are sorted, the page may show: one at
// least, however long its key is.
func (p *page) room() int {
	size := 0
	for i, it := range p.items {
		size += len(it.key)
		if i >= p.query.limit || i > 0 && size > maxKeys {
			return i
		}
	}
	return len(p.items)
}
