package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/export"
)

// pagePath is where the live page is.
const pagePath = "/live/"

// A stage is one engine and what is built on it: all that a restart replaces.
type stage struct {
	engine  *hotcount.Engine
	sink    sinks.Sink // nil for none
	service *service
	page    *live.Page
}

// open starts an engine, which goes on from what Dir holds, and the service.
func (o *Options) open(ctx context.Context, others *ledger) (*stage, error) {
	s := new(stage)
	options := hotcount.Options{Dir: o.Dir, Interval: o.Interval}
	if o.Sink != nil {
		sink, err := o.Sink.Sink(ctx)
		if err != nil {
			return nil, err
		}
		s.sink = sink
		options.Sinks = []export.Sink{sink}
	}
	var err error
	if s.engine, err = hotcount.New(options); err != nil {
		return nil, errors.Join(err, s.closeSink())
	}
	s.service, err = newService(s.engine, others)
	if err == nil {
		s.page, err = live.New(s.engine, live.Options{Title: "hotcount demo"})
	}
	if err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// closeTimeout is how long a stage may take for its last snapshot.
const closeTimeout = 10 * time.Second

// close saves the last counts, also after ctx is done.
func (s *stage) close(ctx context.Context) error {
	if s.page != nil {
		s.page.Close()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(s.engine.Close(ctx), s.closeSink())
}

func (s *stage) closeSink() error {
	if s.sink == nil {
		return nil
	}
	return s.sink.Close()
}

// A site serves one stage after the other at the same address.
type site struct {
	url    string
	server *http.Server
	served chan error

	mu    sync.RWMutex // held by requests for posts, and by a restart
	stage *stage
}

func newSite(addr string, first *stage) (*site, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &site{url: "http://" + listener.Addr().String(), served: make(chan error, 1), stage: first}
	s.server = &http.Server{Handler: s.handler()}
	go func() { s.served <- s.server.Serve(listener) }()
	return s, nil
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/posts/", func(w http.ResponseWriter, r *http.Request) {
		s.mu.RLock() // a restart waits for this request, and the next ones for it
		defer s.mu.RUnlock()
		s.stage.service.handler().ServeHTTP(w, r)
	})
	mux.HandleFunc(pagePath, func(w http.ResponseWriter, r *http.Request) {
		s.mu.RLock()
		page := s.stage.page
		s.mu.RUnlock()
		http.StripPrefix("/live", page).ServeHTTP(w, r)
	})
	mux.Handle("GET /{$}", http.RedirectHandler(pagePath, http.StatusFound))
	return mux
}

// restart closes the engine and opens another one in its place. It returns what
// the first had counted at its end.
func (s *site) restart(open func() (*stage, error)) (before counts, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.stage
	before = countsOf(old.engine)
	if err := old.close(context.Background()); err != nil {
		return before, err
	}
	next, err := open()
	if err != nil {
		return before, err
	}
	s.stage = next
	return before, nil
}

// shutdown ends the server and its engine, once those who visit are done.
func (s *site) shutdown(ctx context.Context) error {
	s.stage.page.Close()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	err := s.server.Shutdown(drain)
	if e := <-s.served; e != http.ErrServerClosed {
		err = errors.Join(err, e)
	}
	return err
}
