package replay

import (
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
	lines, malformed, bytes      *hotcount.Counter
	status, method, path, byHour *hotcount.CounterVec
	clients                      *hotcount.Uniques
	clientsByHour                *hotcount.UniquesVec
}

// NewTally returns a Tally that counts with e.
func NewTally(e *hotcount.Engine) *Tally {
	return &Tally{
		lines:     e.Counter(linesTotal),
		malformed: e.Counter(malformedTotal),
		bytes:     e.Counter(bytesTotal),
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
// goes to the same counter several times in a row. What it holds back reaches
// the engine with flush, at the end of a batch.
type tallyWorker struct {
	*Tally
	seen, bad, sent int64 // lines, malformed ones and bytes, not yet counted

	statuses           [1000]*hotcount.Counter
	methods, paths     handles
	hour               int64 // of hourRun and hourClients, since 1970
	hourClients        *hotcount.Uniques
	statusRun, hourRun streak
	methodRun          streak
}

func (w *tallyWorker) malformed() {
	w.seen++
	w.bad++
}

func (w *tallyWorker) line(r *accesslog.Record) {
	w.seen++
	w.sent += r.Size
	w.statusRun.inc(w.statusCount(r.Status))
	w.methodRun.inc(w.methods.get(methodOf(r)))
	w.paths.get(pathOf(r)).Inc()
	// A log goes through the hours one by one, or nearly.
	if hour := hourOf(r); w.hourRun.c == nil || w.hour != hour {
		w.hour = hour
		w.hourRun.inc(w.byHour.With(formatHour(hour)))
		w.hourClients = w.clientsByHour.With(formatHour(hour))
	} else {
		w.hourRun.n++
	}
	client := w.clients.Sketch().Hash(r.Client) // once for both
	w.clients.AddHash(client)
	w.hourClients.AddHash(client)
}

func (w *tallyWorker) flush() {
	w.lines.Add(w.seen)
	w.Tally.malformed.Add(w.bad)
	w.bytes.Add(w.sent)
	w.seen, w.bad, w.sent = 0, 0, 0
	w.statusRun.flush()
	w.methodRun.flush()
	w.hourRun.flush()
}

func (w *tallyWorker) statusCount(status int) *hotcount.Counter {
	if status == accesslog.NoStatus {
		return w.status.With(none)
	}
	c := w.statuses[status]
	if c == nil {
		c = w.status.With(formatStatus(status))
		w.statuses[status] = c
	}
	return c
}

// A streak is increments of one counter that are not made yet.
type streak struct {
	c *hotcount.Counter
	n int64
}

func (s *streak) inc(c *hotcount.Counter) {
	if s.c != c {
		s.flush()
		s.c = c
	}
	s.n++
}

func (s *streak) flush() {
	if s.n > 0 {
		s.c.Add(s.n)
		s.n = 0
	}
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
