package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hotcount/hotcount/internal/safetext"
	"github.com/hotcount/hotcount/internal/text"
)

// maxShown is how much of a path the table shows, in characters.
const maxShown = 100

// A table is rows of a number and what it counts. Numbers come first because
// they have the same width.
type table struct {
	bytes.Buffer
	width int // of the numbers
}

func (t *table) row(n int64, format string, args ...any) {
	fmt.Fprintf(t, "%*s  %s\n", t.width, text.Group(n), fmt.Sprintf(format, args...))
}

func (t *table) heading(format string, args ...any) {
	fmt.Fprintf(t, "\n%*s  %s\n", t.width, "hits", fmt.Sprintf(format, args...))
}

func (t *table) note(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	t := &table{width: len(text.Group(max(r.Lines, r.Bytes, 100_000)))}
	t.row(r.Lines, "lines")
	t.row(r.Malformed, "malformed")
	t.row(r.Bytes, "bytes")
	t.row(int64(r.Clients), "clients (estimated)")
	t.byLabel("status", r.ByStatus, r.Overflow[statusTotal])
	t.byLabel("method", r.ByMethod, r.Overflow[methodTotal])
	t.paths(r)
	t.hours(r)
	t.notes(r)
	_, err := w.Write(t.Bytes())
	return err
}

func (t *table) byLabel(label string, hits map[string]int64, overflow int64) {
	if len(hits) == 0 {
		return
	}
	t.heading("%s", label)
	values := slices.SortedFunc(maps.Keys(hits), func(a, b string) int {
		return cmp.Or(cmp.Compare(hits[b], hits[a]), cmp.Compare(a, b))
	})
	for _, v := range values {
		t.row(hits[v], "%s", safetext.Printable(v, maxShown))
	}
	t.overflow(label, len(hits), overflow)
}

func (t *table) overflow(label string, series int, hits int64) {
	if hits != 0 {
		t.row(hits, "(every other %s: there is room for %s)", label, text.Group(int64(series)))
	}
}

func (t *table) paths(r *Report) {
	if len(r.TopPaths) == 0 {
		return
	}
	t.heading("path: top %d of %s", len(r.TopPaths), text.Group(int64(r.UniquePaths)))
	for _, p := range r.TopPaths {
		t.row(p.Hits, "%s", safetext.Printable(p.Path, maxShown))
	}
	t.overflow("path", r.UniquePaths, r.Overflow[pathTotal])
}

// hours writes a row for each day, its hours as bars.
func (t *table) hours(r *Report) {
	if len(r.ByHour) == 0 {
		return
	}
	highest := slices.MaxFunc(r.ByHour, byHits).Hits
	t.heading("day (UTC)   00h   06h   12h   18h     busiest hour")
	for rest := r.ByHour; len(rest) > 0; {
		day, _, _ := strings.Cut(rest[0].Hour, "T")
		n := 0
		var total int64
		var hits [24]int64
		for ; n < len(rest) && strings.HasPrefix(rest[n].Hour, day+"T"); n++ {
			var hour int
			fmt.Sscanf(rest[n].Hour[len(day):], "T%d", &hour)
			hits[hour] = rest[n].Hits
			total += rest[n].Hits
		}
		busiest := slices.MaxFunc(rest[:n], byHits)
		t.row(total, "%s  %s  %s: %s", day, text.Spark(hits[:], highest),
			busiest.Hour[len(day)+1:len(busiest.Hour)-1], text.Group(busiest.Hits))
		rest = rest[n:]
	}
	t.overflow("hour", len(r.ByHour), r.Overflow[hourTotal])
}

func byHits(a, b HourHits) int { return cmp.Compare(a.Hits, b.Hits) }

func (t *table) notes(r *Report) {
	t.note("")
	for _, m := range r.MalformedLines {
		t.note("%s:%d: %s", m.File, m.Line, m.Reason)
	}
	if n := r.ThisRun.Malformed - int64(len(r.MalformedLines)); n > 0 {
		t.note("and %s that cannot be read", text.Count(n, "more line"))
	}
	if b := r.Restored; b != nil {
		t.note("Restored %s of %s. The figures above are totals over all runs; this one counted %s.",
			text.Count(b.Lines, "line"), text.Count(int64(b.Runs), "earlier run"), text.Count(r.ThisRun.Lines, "line"))
	}
	if v := r.Verification; v != nil {
		t.verification(v)
		if c := v.Clients; c != nil {
			t.note("Clients: %s estimated, %s exactly, an error of %.2f %%; at most %.2f %% in an hour.",
				text.Group(int64(c.Estimated)), text.Group(int64(c.Exact)), c.Error, c.WorstHour)
		}
	}
	t.note("%s in %.3f s: %s lines/s with %s.", text.Count(r.ThisRun.Lines, "line"), r.Timing.Seconds,
		text.Group(int64(r.Timing.LinesPerSecond)), text.Count(int64(r.Timing.Workers), "worker"))
}

func (t *table) verification(v *Verification) {
	if v.Different == 0 {
		t.note("Verified: all %s series of this run equal an exact count.", text.Group(int64(v.Series)))
		return
	}
	for _, d := range v.Differences {
		t.note("%s", d)
	}
	if n := v.Different - len(v.Differences); n > 0 {
		t.note("and %s", text.Count(int64(n), "more difference"))
	}
}
