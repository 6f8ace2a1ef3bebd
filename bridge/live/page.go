package live

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/hotcount/hotcount"
)

// Options configure a Page. Zero fields have defaults.
type Options struct {
	// Title stands over the page, "hotcount" by default: which program it is.
	Title string

	// Hosts are further names and addresses, without ports, by which
	// browsers may ask for the page.
	Hosts []string

	// Interval is the least time between two updates, 1 s by default.
	Interval time.Duration

	// Rows is how many series are shown at a time, 20 by default and 500 at
	// most.
	Rows int

	// Streams is how many pages may be open at a time, 32 by default. Others
	// are told to come back.
	Streams int
}

const (
	defaultTitle    = "hotcount"
	defaultInterval = time.Second
	defaultRows     = 20
	maxRows         = 500
	defaultStreams  = 32

	// minInterval keeps a page readable and its server idle.
	minInterval = 100 * time.Millisecond
)

// ErrOptions is wrapped by the errors of New.
var ErrOptions = errors.New("hotcount/live: invalid options")

// A Page is an http.Handler that serves the page and what belongs to it. It is
// safe for concurrent use.
type Page struct {
	engine *hotcount.Engine
	o      Options
	hosts  map[string]bool
	hub    hub
}

// New returns the page of an engine. It may be mounted anywhere, under a prefix
// with http.StripPrefix. The error wraps ErrOptions.
func New(e *hotcount.Engine, o Options) (*Page, error) {
	switch {
	case e == nil:
		return nil, fmt.Errorf("%w: the engine is nil", ErrOptions)
	case o.Interval != 0 && o.Interval < minInterval:
		return nil, fmt.Errorf("%w: Interval is %v, less than %v", ErrOptions, o.Interval, minInterval)
	case o.Rows < 0 || o.Rows > maxRows:
		return nil, fmt.Errorf("%w: Rows is %d, not in 0 to %d", ErrOptions, o.Rows, maxRows)
	case o.Streams < 0:
		return nil, fmt.Errorf("%w: Streams is %d", ErrOptions, o.Streams)
	}
	hosts := make(map[string]bool)
	for _, h := range o.Hosts {
		name, ok := hostName(h)
		if !ok || (&url.URL{Host: normalHost(h)}).Port() != "" {
			return nil, fmt.Errorf("%w: %q in Hosts is no name or address without a port", ErrOptions, h)
		}
		hosts[name] = true
	}
	if o.Title == "" {
		o.Title = defaultTitle
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	if o.Rows == 0 {
		o.Rows = defaultRows
	}
	if o.Streams == 0 {
		o.Streams = defaultStreams
	}
	return &Page{engine: e, o: o, hosts: hosts, hub: newHub()}, nil
}

// Close ends all streams, for good; browsers try again now and then. Without it
// http.Server.Shutdown waits for them until its context ends. A page that nobody
// looks at needs no closing.
func (p *Page) Close() { p.hub.close() }

// ServeHTTP serves the page, its parts, and the stream of updates.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "This page is for reading.", http.StatusMethodNotAllowed)
		return
	}
	if why := p.refuse(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch {
	case name == "events":
		p.stream(w, r)
	case name == "" && !endsInSlash(r):
		redirectToSlash(w, r)
	default:
		serveAsset(w, r, name)
	}
}

// endsInSlash reports whether the path that the client asked for does, before
// any prefix was taken off it.
func endsInSlash(r *http.Request) bool {
	asked, _, _ := strings.Cut(r.RequestURI, "?")
	return asked == "" || strings.HasSuffix(asked, "/")
}

// redirectToSlash adds a slash to the client's path. The address is relative,
// since only the client knows under which one it asked.
func redirectToSlash(w http.ResponseWriter, r *http.Request) {
	asked, query, _ := strings.Cut(r.RequestURI, "?")
	to := "./" + path.Base(asked) + "/"
	if query != "" {
		to += "?" + query
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusPermanentRedirect)
}
