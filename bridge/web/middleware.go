package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/stripe"
	"github.com/hotcount/hotcount/window"
)

// Options say how a Middleware counts. Zero fields have defaults.
type Options struct {
	// Name begins the names of the series, "http" by default. Give each
	// Middleware of an engine its own, or use one for several handlers.
	Name string

	// ExactCodes makes the label code the code itself, such as "404", not its
	// class.
	ExactCodes bool

	// Route returns the label route of a request, after it was handled; ""
	// counts as unmatched. The default is the pattern that an http.ServeMux has
	// set, without its method. What it returns should not be a client's to
	// choose: the series are limited, and take a place each.
	Route func(*http.Request) string

	// Window is the window of the longest duration, 60 buckets of a second by
	// default. It must have neither Coarser nor a Sampler.
	Window window.Options
}

// A Middleware counts the requests of a server, as the package comment lists. Its
// methods may be called from any goroutine. It lasts as long as its engine.
type Middleware struct {
	route    func(*http.Request) string // nil for the pattern
	inFlight stripe.Counter
	inGauge  series.Key
	tallies  *tallies
	reach    time.Duration // of the window
}

const requestsSuffix = "_requests_total"

// NewMiddleware returns a Middleware that counts in e. The error wraps
// series.ErrName if series cannot have this Name, and window.ErrOptions if the
// Window is invalid. It panics as Engine.Counter does if the program uses the
// names for something else.
//
// The engine then runs its sampler until Close.
func NewMiddleware(e *hotcount.Engine, o Options) (*Middleware, error) {
	if o.Name == "" {
		o.Name = "http"
	}
	requests, err := series.NewDesc(o.Name + requestsSuffix)
	if err == nil && hotcount.IsHealth(requests.Key()) {
		err = fmt.Errorf("%w: %s is reserved for the engine's own series", series.ErrName, requests.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("hotcount/web: Options.Name: %w", err)
	}
	if o.Window.Sampler != nil {
		return nil, fmt.Errorf("hotcount/web: Options.Window: %w: the engine has its own sampler", window.ErrOptions)
	}
	probe := o.Window
	probe.Sampler = e.Sampler()
	m, err := window.NewMax(probe)
	if err != nil {
		return nil, fmt.Errorf("hotcount/web: Options.Window: %w", err)
	}
	m.Close()
	return &Middleware{
		route:   o.Route,
		inGauge: mustDesc(o.Name + "_requests_in_flight").Key(),
		tallies: newTallies(e, o, mustDesc(o.Name+"_request_duration_max_seconds", "code", "method", "route")),
		reach:   reachOf(o.Window),
	}, nil
}

// mustDesc is for names that begin as one that has been tried.
func mustDesc(name string, labels ...string) series.Desc {
	d, err := series.NewDesc(name, labels...)
	if err != nil {
		panic(err)
	}
	return d
}

func reachOf(o window.Options) time.Duration {
	return window.Rung{
		Resolution: cmp.Or(o.Resolution, window.DefaultResolution),
		Buckets:    cmp.Or(o.Buckets, window.DefaultBuckets),
	}.Reach()
}

// Wrap returns a handler that counts the requests that next handles. A request
// costs about 0.4 µs more, much of it two looks at the clock, and one allocation.
//
// Put it around an http.ServeMux, with nothing between them that copies the
// request, or else see Route. What is between it and the server is not counted:
// put http.TimeoutHandler inside, so that its answers are.
func (m *Middleware) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.serve(next, w, r)
	})
}

// serve calls next and counts what becomes of it. The request that next gets is
// the caller's own, so that the pattern which a mux sets on it can be seen.
func (m *Middleware) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	rec := &recorder{w: w}
	body := r.Body
	if body != nil && body != http.NoBody {
		rec.body.ReadCloser = body
		r.Body = &rec.body
	}
	returned := false
	m.inFlight.Inc()
	began := time.Now()
	defer func() {
		end := time.Now()
		m.inFlight.Add(-1)
		r.Body = body
		panicked := recover() // nil, too, after runtime.Goexit
		code := rec.code(r, returned, panicked == http.ErrAbortHandler)
		m.count(rec, r, code, end.Sub(began), began)
		if panicked != nil {
			panic(panicked)
		}
	}()
	next.ServeHTTP(rec.as(), r)
	returned = true
}

// code returns what a request is counted under. If its handler did not return, it
// panicked, and aborted says that it did so to end the response where it was.
func (rec *recorder) code(r *http.Request, returned, aborted bool) int {
	if returned && rec.status != 0 {
		return rec.status
	}
	const clientClosedRequest = 499 // nginx's
	gone := r.Context().Err() == context.Canceled
	switch {
	case gone && (returned || aborted):
		return cmp.Or(rec.status, clientClosedRequest)
	case returned:
		return http.StatusOK
	}
	return http.StatusInternalServerError
}

// count counts a request that has ended.
func (m *Middleware) count(rec *recorder, r *http.Request, code int, took time.Duration, began time.Time) {
	if !rec.hijacked.IsZero() {
		took = rec.hijacked.Sub(began)
	}
	t := m.tallies.of(methodOf(r.Method), m.routeOf(rec, r), code)
	t.requests.Inc()
	t.nanoseconds.Add(int64(took))
	t.longest.Observe(int64(took))
	if n := rec.body.read.Load(); n > 0 {
		t.read.Add(n)
	}
	if rec.written > 0 && r.Method != http.MethodHead {
		t.written.Add(rec.written)
	}
}

func (m *Middleware) routeOf(rec *recorder, r *http.Request) string {
	switch {
	case m.route != nil:
		if route := m.route(r); route != "" {
			return route
		}
		return unmatched
	case rec.route != "":
		return rec.route
	}
	return routeOf(r)
}

// InFlight returns how many requests are being handled. While some come and go
// it is not a point in time, see stripe.Counter.Value.
func (m *Middleware) InFlight() int64 { return max(0, m.inFlight.Value()) }

// Longest returns the longest duration of the requests that ended in the last d,
// and whether there were any. It reaches back as far as Options.Window.
func (m *Middleware) Longest(d time.Duration) (longest time.Duration, ok bool) {
	longest = math.MinInt64
	for t := range m.tallies.index.All {
		if e := t.longest.Last(d); e.OK {
			longest, ok = max(longest, time.Duration(e.Value)), true
		}
	}
	if !ok {
		return 0, false
	}
	return longest, true
}

// Gauges returns the gauges that the package comment lists, in the order of their
// keys. The longest duration is left out where Options.Window holds no request.
func (m *Middleware) Gauges() []snapshot.GaugeRow {
	gauges := []snapshot.GaugeRow{{Key: m.inGauge, Value: float64(m.InFlight())}}
	gauges = m.tallies.appendGauges(gauges, m.reach)
	slices.SortFunc(gauges, func(a, b snapshot.GaugeRow) int { return a.Key.Compare(b.Key) })
	return gauges
}
