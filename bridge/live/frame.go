package live

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/series"
)

// A frame is what one update shows. Its texts are made to be shown as they are.
// Totals are decimal strings, since JavaScript's numbers end at 2^53.
type frame struct {
	Title   string  `json:"title"`
	Taken   int64   `json:"taken"` // Unix milliseconds
	Series  int     `json:"series"`
	Matches int     `json:"matches"` // of them, by what was searched for
	Rate    float64 `json:"rate"`    // events per second, all series together
	Rated   bool    `json:"rated"`   // there are rates

	Rows    []row               `json:"rows"`
	Uniques section[uniquesRow] `json:"uniques"`
	Windows section[windowRow]  `json:"windows"`
	Exports section[exportRow]  `json:"exports"`
	Health  section[healthRow]  `json:"health"`
	Newest  uint64              `json:"newest"` // snapshot's seq, 0 before the first
}

// A name is a series' family and labels.
type name struct {
	Family string `json:"family"`
	Labels string `json:"labels"` // with their braces, "" if there are none
}

func nameOf(k series.Key) name { return name{k.Name(), safetext.Printable(labelsOf(k), maxText)} }

func labelsOf(k series.Key) string { return strings.TrimPrefix(k.String(), k.Name()) }

// A row is one counter.
type row struct {
	name
	Total  string  `json:"total"`
	Rate   float64 `json:"rate"`
	Window *spark  `json:"window"`
	stripes
}

// stripes are how a counter is laid out and how evenly it is written.
type stripes struct {
	Hot     bool    `json:"hot"`
	Cold    int64   `json:"cold"`    // in its first cell
	Stripes []int64 `json:"stripes"` // in each other, rounded by JavaScript
	Skew    float64 `json:"skew"`
}

// maxStripes is how many stripes are sent. There are as many as processors.
const maxStripes = 512

// A watcher makes frames. It has what is remembered while somebody looks.
type watcher struct {
	page  *Page
	view  hotcount.View
	rates rates
}

// looked reports whether there is a view.
func (w *watcher) looked() bool { return !w.view.Taken.IsZero() }

// look takes a view of the engine.
func (w *watcher) look() {
	w.page.engine.View(&w.view)
	w.rates.update(&w.view)
}

// frame returns the message for those who ask for q.
func (w *watcher) frame(q query) []byte {
	f := frame{
		Title:  w.page.o.Title,
		Taken:  w.view.Taken.UnixMilli(),
		Series: len(w.view.Counters),
		Rate:   w.rates.all,
		Rated:  w.rates.known(),
	}
	m := q.matcher()
	w.counters(&f, q, m)
	f.Uniques = w.uniques(m)
	f.Windows = w.windows(m)
	f.Exports, f.Newest = w.exports()
	f.Health = w.health()
	text, err := json.Marshal(&f)
	if err != nil {
		panic(err) // a frame is strings and finite numbers
	}
	return event(text)
}

// counters fills in the first rows by the order of q.
func (w *watcher) counters(f *frame, q query, m *matcher) {
	first := top[candidate]{n: w.page.o.Rows, compare: orders[q.by]}
	for i := range w.view.Counters {
		c := &w.view.Counters[i]
		if !m.match(c.Key()) {
			continue
		}
		f.Matches++
		first.add(candidate{c, c.Value(), w.rates.perSecond[i]})
	}
	f.Rows = make([]row, 0, len(first.items))
	for _, c := range first.items {
		f.Rows = append(f.Rows, row{
			name:    nameOf(c.Key()),
			Total:   strconv.FormatInt(c.total, 10),
			Rate:    c.rate,
			Window:  sparkOfRing(c.Window),
			stripes: stripesOf(c.Counter),
		})
	}
}

func stripesOf(c *hotcount.Counter) stripes {
	s := c.Stats()
	return stripes{s.Hot, s.Cold, s.Stripes[:min(len(s.Stripes), maxStripes)], s.Skew}
}
