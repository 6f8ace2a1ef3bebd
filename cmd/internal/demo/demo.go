// Package demo runs a small web service that counts with hotcount, sends
// requests to it, shows the counts as they grow, and checks them at the end.
//
//	load ──HTTP──▶ service ──▶ engine ──▶ snapshots in a directory
//	  │                          │              │
//	ledger ═══════ equal? ═══ counts ═ equal? ══╛
//
// The check does not trust the engine: the load keeps its own account of the
// requests that were answered, and what was saved is read back from disk.
package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// Options say how to run.
type Options struct {
	Addr    string // to listen on
	Clients int    // that send requests at the same time
	Screen  *Screen
}

// Run serves, sends requests and shows the counts of e until ctx is done.
func Run(ctx context.Context, e *hotcount.Engine, o Options) (*Result, error) {
	before := countsOf(e)
	s := newService(e)
	listener, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: s.handler()}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	url := "http://" + listener.Addr().String()
	l := &load{url: url, clients: o.Clients}
	o.Screen.begin(url, o.Clients, e.Restored(), before)
	start := time.Now()
	sent := make(chan error, 1)
	go func() { sent <- l.run(ctx) }()
	loadErr := o.Screen.follow(e, start, before, sent)
	took := time.Since(start)

	// A visitor may still be at it.
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	err = errors.Join(loadErr, server.Shutdown(drain))
	if e := <-served; e != http.ErrServerClosed {
		err = errors.Join(err, e)
	}
	r := newResult(e, before, took)
	r.check(l.sent.read(), s.visits.read())
	return r, err
}

// countsOf returns the lifetime totals of e.
func countsOf(e *hotcount.Engine) counts {
	var c counts
	for key, n := range e.Totals() {
		c.set(key.Name(), key.Label("post"), n)
	}
	return c
}

// set adds n to the count that a series is of, if it is one of the service's.
func (c *counts) set(family, post string, n int64) {
	id, err := strconv.Atoi(post)
	if err != nil || id < 1 || id > posts {
		return
	}
	switch family {
	case viewsTotal:
		c[id].views += n
	case likesTotal:
		c[id].likes += n
	}
}

// ReadBack returns the totals of all runs that the snapshots in dir hold. No
// engine may be using dir.
func ReadBack(dir string) (saved Saved, err error) {
	sink, err := filesink.Open(filesink.Options{Dir: dir})
	if err != nil {
		return Saved{}, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	saved = Saved{Dir: dir}
	for _, s := range sink.Restored() {
		for row := range s.AllCounters() {
			saved.counts.set(row.Key.Name(), row.Key.Label("post"), row.Value)
		}
	}
	saved.Views, saved.Likes = saved.counts.views(), saved.counts.likes()
	return saved, nil
}
