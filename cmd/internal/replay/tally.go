package replay

import (
	"bytes"
	"fmt"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/accesslog"
)

// The families of what is counted.
const (
	linesTotal     = "access_log_lines_total"
	malformedTotal = "access_log_malformed_lines_total"
	bytesTotal     = "access_log_response_bytes_total"
	statusTotal    = "access_log_requests_by_status_total"
	methodTotal    = "access_log_requests_by_method_total"
	pathTotal      = "access_log_requests_by_path_total"
	hourTotal      = "access_log_requests_by_hour_total"
	clients        = "access_log_clients"
	clientsByHour  = "access_log_clients_by_hour"
)

const (
	// none is the label of what a line does not say, as in the log itself.
	none = "-"

	// maxPath is how much of a path is kept, in bytes: as much as Apache
	// takes of a whole request line (LimitRequestLine, 8190 by default). It
	// bounds the memory of a family of paths that somebody made up.
	maxPath = 8190

	hourLayout = "2006-01-02T15:04Z"
)

// A Tally counts lines with an engine.
type Tally struct {
	lines, malformed, sentBytes  *hotcount.Counter
	status, method, path, byHour *hotcount.CounterVec
	clients                      *hotcount.Uniques
	clientsByHour                *hotcount.UniquesVec
}

// NewTally returns a Tally that counts with e.
func NewTally(e *hotcount.Engine) *Tally {
	return &Tally{
		lines:     e.Counter(linesTotal),
		malformed: e.Counter(malformedTotal),
		sentBytes: e.Counter(bytesTotal),
		status:    e.CounterVec(statusTotal, "status"),
		method:    e.CounterVec(methodTotal, "method"),
		path:      e.CounterVec(pathTotal, "path"),
		byHour:    e.CounterVec(hourTotal, "hour"),

		clients:       e.Uniques(clients),
		clientsByHour: e.UniquesVec(clientsByHour, "hour"),
	}
}

// Lines returns how many lines were counted, those of restored runs included.
func (t *Tally) Lines() int64 { return t.lines.Value() }

func (t *Tally) worker() *tallyWorker {
	return &tallyWorker{
		Tally:   t,
		methods: newHandles(t.method),
		paths:   newHandles(t.path),
	}
}

// A tallyWorker counts lines for one goroutine. It keeps the handles of the
// counters that it uses, as any caller on a hot path should, and adds up what
// goes to the same counter in a batch. What it holds back reaches the engine
// with flush, at the end of the batch. Lines that follow each other often have
// the same method, hour and client, so these are compared before they are looked
// up or hashed.
type tallyWorker struct {
	*Tally
	holder
	seen, bad, sent int64 // lines, malformed ones and bytes, not yet counted

	statuses       [1 + 1000]*held // by status, after that of lines without one
	methods, paths handles

	method     []byte // of methodHits
	methodHits *held  // nil before the first line

	hour        int64 // of hourHits and hourClients, since 1970
	hourHits    *held // nil before the first line
	hourClients *hotcount.Uniques
	client      []byte // the last one that hourClients has counted
}

func (w *tallyWorker) malformed() {
	w.seen++
	w.bad++
}

func (w *tallyWorker) line(r *accesslog.Record) {
	w.seen++
	w.sent += r.Size
	w.inc(w.statusHits(r.Status))
	if method := methodOf(r); w.methodHits == nil || !bytes.Equal(w.method, method) {
		w.method = append(w.method[:0], method...)
		w.methodHits = w.methods.get(method)
	}
	w.inc(w.methodHits)
	w.inc(w.paths.get(pathOf(r)))
	hour := hourOf(r)
	sameHour := w.hourHits != nil && w.hour == hour
	if !sameHour {
		w.enterHour(hour)
	}
	w.inc(w.hourHits)
	if !sameHour || !bytes.Equal(w.client, r.Client) {
		w.client = append(w.client[:0], r.Client...)
		client := w.clients.Sketch().Hash(r.Client) // once for both
		w.clients.AddHash(client)
		w.hourClients.AddHash(client)
	}
}

// enterHour takes the handles of another hour. A log goes through the hours one
// by one, or nearly. What is held back of the one before stays pending.
func (w *tallyWorker) enterHour(hour int64) {
	label := formatHour(hour)
	w.hour = hour
	w.hourHits = &held{c: w.byHour.With(label)}
	w.hourClients = w.clientsByHour.With(label)
}

func (w *tallyWorker) flush() {
	w.lines.Add(w.seen)
	w.Tally.malformed.Add(w.bad)
	w.sentBytes.Add(w.sent)
	w.seen, w.bad, w.sent = 0, 0, 0
	w.holder.flush()
}

func (w *tallyWorker) statusHits(status int) *held {
	h := &w.statuses[status-accesslog.NoStatus]
	if *h == nil {
		*h = &held{c: w.status.With(formatStatus(status))}
	}
	return *h
}

func methodOf(r *accesslog.Record) []byte {
	if r.Method == nil {
		return []byte(none)
	}
	return r.Method[:min(len(r.Method), maxPath)]
}

func pathOf(r *accesslog.Record) []byte {
	if r.Target == nil {
		return []byte(none)
	}
	return r.Target[:min(len(r.Target), maxPath)]
}

// hourOf returns the hour of a line, counted from 1970 in UTC.
func hourOf(r *accesslog.Record) int64 {
	const hour = int64(time.Hour / time.Second)
	h := r.Time / hour
	if r.Time%hour < 0 { // before 1970: round down, as after it
		h--
	}
	return h
}

func formatHour(hour int64) string {
	return time.Unix(hour*int64(time.Hour/time.Second), 0).UTC().Format(hourLayout)
}

func formatStatus(status int) string {
	if status == accesslog.NoStatus {
		return none
	}
	return fmt.Sprintf("%03d", status)
}
