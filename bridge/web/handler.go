package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
)

// How it works. A request takes a page: it goes over the engine's series once
// and keeps the first few that are asked for, so that memory depends on the page
// and not on the engine. Then it writes them one by one, with no lock held.
// encoding/json makes the rows; the lists around them are written by hand, since
// it has no way to write a list bit by bit.

// Handler returns a handler that answers GET and HEAD with an engine's state as
// JSON, gauges of the given middlewares included. The package comment describes
// the document and the queries.
//
// A request costs about 1 µs for each series of the engine and 10 µs for each
// that it shows, a window of uniques up to a millisecond. One page is taken at a
// time. What it shows names the program's inside, label values that clients
// chose and errors of sinks: serve it where only operators get to it.
func Handler(e *hotcount.Engine, m ...*Middleware) http.Handler {
	return &handler{newSource(e, m)}
}

type handler struct{ source *source }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, errMethod)
		return
	}
	q, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	p, err := h.source.page(r.Context(), q)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err) // nobody is likely to read it
		return
	}
	if p.write(w, h.source.engine.ExportStats()) != nil {
		// The document is cut short. Ending as usual would make it look whole
		// to HTTP.
		panic(http.ErrAbortHandler)
	}
}

var errMethod = errors.New("hotcount/web: the method is neither GET nor HEAD")

func refuse(w http.ResponseWriter, code int, err error) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // the client's loss
}

// write writes the document, a line for each row.
func (p *page) write(w io.Writer, exports export.Stats) error {
	d := document{w: bufio.NewWriter(w)}
	d.enc = json.NewEncoder(d.w)
	d.raw(`{"taken":`)
	d.value(p.taken)
	d.raw(`,"exports":`)
	d.value(exportsOf(exports))
	for _, list := range [...]string{countersList, uniquesList, eventsList, uniquesWindowsList, gaugesList, healthList} {
		d.raw(`,"` + list + `":[`)
		comma := ""
		for _, it := range p.items {
			if it.list() != list {
				continue
			}
			d.raw(comma)
			d.value(it.row())
			if d.err != nil {
				return d.err
			}
			comma = ","
		}
		d.raw("]")
	}
	if p.next != "" {
		d.raw(`,"next":`)
		d.value(p.next)
	}
	d.raw("}\n")
	if d.err != nil {
		return d.err
	}
	return d.w.Flush()
}

// A document is JSON that is written bit by bit, until the first error.
type document struct {
	w   *bufio.Writer
	enc *json.Encoder // to w
	err error
}

func (d *document) raw(s string) {
	if d.err == nil {
		_, d.err = d.w.WriteString(s)
	}
}

func (d *document) value(v any) {
	if d.err == nil {
		d.err = d.enc.Encode(v)
	}
}
