package live

import (
	"cmp"
	"strconv"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/series"
)

// A section is a table that is not of counters.
type section[T any] struct {
	Rows   []T `json:"rows"`
	Hidden int `json:"hidden"` // rows that there is no room for
}

const (
	// maxRowsOfSection is how many rows a section has.
	maxRowsOfSection = 50

	// maxEstimates bounds how many distinct counts are looked at to find the
	// greatest: one takes some microseconds.
	maxEstimates = 1000
)

// sectionOf returns a section of the first of t, out of so many.
func sectionOf[S, T any](t top[S], of int, convert func(S) T) section[T] {
	s := section[T]{Rows: make([]T, 0, len(t.items)), Hidden: of - len(t.items)}
	for _, item := range t.items {
		s.Rows = append(s.Rows, convert(item))
	}
	return s
}

// A uniquesRow is a distinct count, of all time or of a window.
type uniquesRow struct {
	name
	Count   string  `json:"count"`
	Low     string  `json:"low"`
	High    string  `json:"high"`
	Below   float64 `json:"below"`   // by what share of Count Low is less
	Above   float64 `json:"above"`   // and High is more
	Covered float64 `json:"covered"` // seconds of the window, 0 for all time
}

type estimated struct {
	key      series.Key
	estimate hll.Estimate
	covered  time.Duration
}

func (e estimated) compare(f estimated) int {
	return cmp.Or(cmp.Compare(f.estimate.Count, e.estimate.Count), e.key.Compare(f.key), cmp.Compare(e.covered, f.covered))
}

func (e estimated) row() uniquesRow {
	r := uniquesRow{
		name:    nameOf(e.key),
		Count:   strconv.FormatUint(e.estimate.Count, 10),
		Low:     strconv.FormatUint(e.estimate.Low, 10),
		High:    strconv.FormatUint(e.estimate.High, 10),
		Covered: e.covered.Seconds(),
	}
	if n := float64(e.estimate.Count); n > 0 {
		r.Below = (n - float64(e.estimate.Low)) / n
		r.Above = (float64(e.estimate.High) - n) / n
	}
	return r
}

// allOfIt is longer than any window reaches back.
const allOfIt = 200 * 365 * 24 * time.Hour

// uniques returns the greatest distinct counts, of all time and of windows.
func (w *watcher) uniques(m *matcher) section[uniquesRow] {
	first := top[estimated]{n: maxRowsOfSection, compare: estimated.compare}
	matches, room := 0, maxEstimates
	add := func(k series.Key, estimate func() estimated) {
		if !m.match(k) {
			return
		}
		matches++
		if room > 0 {
			room--
			first.add(estimate())
		}
	}
	for _, u := range w.view.UniquesWindows {
		add(u.Key, func() estimated {
			span := u.Last(allOfIt)
			return estimated{u.Key, span.Estimate, span.Covered}
		})
	}
	for _, u := range w.view.Uniques {
		add(u.Key(), func() estimated { return estimated{u.Key(), u.Estimate(), 0} })
	}
	return sectionOf(first, matches, estimated.row)
}

// A windowRow is a window of events.
type windowRow struct {
	name
	Count  string `json:"count"`
	Window *spark `json:"window"`
}

func (w *watcher) windows(m *matcher) section[windowRow] {
	first := top[hotcount.EventsView]{n: maxRowsOfSection, compare: func(a, b hotcount.EventsView) int { return a.Key.Compare(b.Key) }}
	matches := 0
	for _, e := range w.view.Events {
		if m.match(e.Key) {
			matches++
			first.add(e)
		}
	}
	return sectionOf(first, matches, func(e hotcount.EventsView) windowRow {
		buckets := e.Buckets()
		var sum int64
		for _, b := range buckets {
			sum += b.Count
		}
		return windowRow{nameOf(e.Key), strconv.FormatInt(sum, 10), sparkOf(buckets)}
	})
}

// An exportRow is how a sink does.
type exportRow struct {
	Sink     string  `json:"sink"`
	Acked    uint64  `json:"acked"` // seq of a snapshot
	Age      float64 `json:"age"`   // seconds since then, -1 for never
	Writing  float64 `json:"writing"`
	Writes   uint64  `json:"writes"`
	Failures uint64  `json:"failures"`
	Blocked  bool    `json:"blocked"`
	Stopped  bool    `json:"stopped"`
	Error    string  `json:"error"` // of the last write
}

func (w *watcher) exports() (exports section[exportRow], newest uint64) {
	stats := w.page.engine.ExportStats()
	exports.Hidden = max(0, len(stats.Sinks)-maxRowsOfSection)
	exports.Rows = make([]exportRow, 0, len(stats.Sinks)-exports.Hidden)
	for _, s := range stats.Sinks[:len(stats.Sinks)-exports.Hidden] {
		r := exportRow{
			Sink:     shown(s.Name),
			Acked:    s.Acked,
			Age:      -1,
			Writes:   s.Writes,
			Failures: s.Failures,
			Blocked:  s.Blocked,
			Stopped:  s.Stopped,
		}
		if !s.AckedAt.IsZero() {
			r.Age = time.Since(s.AckedAt).Seconds()
		}
		if !s.Writing.IsZero() {
			r.Writing = time.Since(s.Writing).Seconds()
		}
		if s.Err != nil {
			r.Error = shown(s.Err.Error())
		}
		exports.Rows = append(exports.Rows, r)
	}
	return exports, stats.Seq
}

// maxText is how much of a series' labels or of an error is shown, in
// characters.
const maxText = 200

// shown returns a text of a sink's without secrets.
func shown(text string) string { return safetext.Printable(safetext.WithoutSecrets(text), maxText) }

// A healthRow is one of the engine's own series.
type healthRow struct {
	name
	Value string `json:"value"`
}

type reported struct {
	key   series.Key
	value string
}

func (w *watcher) health() section[healthRow] {
	first := top[reported]{n: maxRowsOfSection, compare: func(a, b reported) int { return a.key.Compare(b.key) }}
	for _, c := range w.view.Health {
		first.add(reported{c.Key, strconv.FormatInt(c.Value, 10)})
	}
	for _, g := range w.view.Gauges {
		first.add(reported{g.Key, strconv.FormatFloat(g.Value, 'g', 6, 64)})
	}
	return sectionOf(first, len(w.view.Health)+len(w.view.Gauges), func(r reported) healthRow {
		return healthRow{name{r.key.Name(), shown(labelsOf(r.key))}, r.value} // there are names of sinks among them
	})
}
