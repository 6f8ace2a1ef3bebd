// Package demo runs a small web service that counts with hotcount, sends
// requests to it, shows the counts as they grow, and checks them at the end.
//
//	load ──HTTP──▶ service ──▶ engine ──▶ snapshots in a directory, and in a store
//	  │              ▲           │              │                         │
//	  │      crowd ──┘        live page         │                         │
//	  │        │                 │              │                         │
//	ledgers ═══╧═════ equal? ═ counts ═ equal? ═╛ ═══════ no less? ═══════╛
//
// The check does not trust the engine: load and crowd keep their own account of
// what they sent, and what was saved is read back from disk.
//
// A run has scenes: quiet, a post that goes viral, quiet, a restart of the
// engine, quiet.
package demo

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// Options say how to run.
type Options struct {
	Addr     string        // to listen on
	Clients  int           // that send requests at the same time
	For      time.Duration // how long; 0 is until the context is done
	Dir      string        // of snapshots
	Interval time.Duration // between snapshots
	Sink     *sinks.Target // a store to share with other demos, nil for none
	Screen   *Screen
}

// A scene is a part of a run.
type scene struct {
	share   float64 // of the run's time
	viral   bool    // a crowd comes
	restart bool    // first
}

// The scenes of a run; one without an end plays them again every minute.
var scenes = []scene{{share: 0.25}, {share: 0.25, viral: true}, {share: 0.15}, {share: 0.35, restart: true}}

// DefaultFor is how long a run takes by default, and how long the scenes take
// in one without an end.
const DefaultFor = time.Minute

// A run is the demo while it runs.
type run struct {
	Options
	site   *site
	fleet  *fleet // nil without a Sink
	load   load
	crowd  crowd
	others ledger
	before counts // of earlier runs
	result *Result
}

// Run serves, sends requests and shows the counts until it is time or ctx is
// done. A Result comes with an error if there was something to check.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &run{Options: o, result: &Result{Differences: []string{}}}
	var err error
	if o.Sink != nil {
		if r.fleet, err = openFleet(ctx, *o.Sink); err != nil {
			return nil, err
		}
		defer r.fleet.close()
	}
	first, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	r.before = countsOf(first.engine)
	if r.site, err = newSite(o.Addr, first); err != nil {
		return nil, errors.Join(err, first.close(ctx))
	}
	r.load.url, r.load.clients = r.site.url, o.Clients
	r.result.restoredFrom(first.engine.Restored(), r.before)
	r.Screen.begin(r)
	return r.play(ctx)
}

func (r *run) open(ctx context.Context) (*stage, error) { return r.Options.open(ctx, &r.others) }

// play plays the scenes and ends the run.
func (r *run) play(ctx context.Context) (*Result, error) {
	start := time.Now()
	length := r.For
	if length == 0 {
		length = DefaultFor
	}
	var err error
	for ended := false; !ended && err == nil; ended = r.For > 0 || ctx.Err() != nil {
		for _, s := range scenes {
			if err = r.playScene(ctx, s, time.Duration(s.share*float64(length))); err != nil || ctx.Err() != nil {
				break
			}
		}
	}
	r.Screen.erase()
	took := time.Since(start)
	err = errors.Join(err, r.site.shutdown(ctx))
	last := r.site.stage
	r.result.count(last, r.before, took)
	r.result.check(r.load.sent.read(), r.crowd.sent.read(), r.others.read())
	err = errors.Join(err, last.close(ctx))
	saved, savedErr := ReadBack(r.Dir)
	if savedErr == nil {
		r.result.checkSaved(saved)
	}
	return r.result, errors.Join(err, savedErr, r.checkFleet(ctx))
}

// playScene sends requests for so long, or until ctx is done or one fails.
func (r *run) playScene(ctx context.Context, s scene, length time.Duration) error {
	if s.restart {
		if err := r.restart(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	sent := make(chan error, 1)
	go func() { sent <- r.load.run(ctx) }()
	crowdGone := make(chan struct{})
	go func() {
		defer close(crowdGone)
		if s.viral {
			r.crowd.run(ctx, r.site.stage.service.views)
		}
	}()
	if s.viral {
		r.Screen.event("Post %d goes viral: a crowd views it from every processor at once, without HTTP between.", viralPost)
	}
	err := r.Screen.follow(r, sent)
	cancel()
	<-crowdGone
	return err
}

// restart closes the engine and goes on with another one, which has to have
// counted as much.
func (r *run) restart(ctx context.Context) error {
	before, err := r.site.restart(func() (*stage, error) { return r.open(ctx) })
	if err != nil {
		return err
	}
	after := countsOf(r.site.stage.engine)
	r.result.Restarts++
	wrong := differences("after a restart", after, "before it", before)
	r.result.Differences = append(r.result.Differences, wrong...)
	r.Screen.restarted(r.Dir, before, after, len(wrong) == 0)
	return nil
}

// countsOf returns the lifetime totals of e.
func countsOf(e *hotcount.Engine) counts {
	var c counts
	for key, n := range e.Totals() {
		c.add(key.Name(), key.Label("post"), n)
	}
	return c
}

// add adds n to the count that a series is of, if it is one of the service's,
// and reports whether it is.
func (c *counts) add(family, post string, n int64) bool {
	if family == firstVisitsTotal {
		c.visitors += n
		return true
	}
	id, err := strconv.Atoi(post)
	if err != nil || id < 1 || id > posts {
		return false
	}
	switch family {
	case viewsTotal:
		c.posts[id].views += n
	case likesTotal:
		c.posts[id].likes += n
	default:
		return false
	}
	return true
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
			saved.counts.add(row.Key.Name(), row.Key.Label("post"), row.Value)
		}
	}
	saved.Views, saved.Likes = saved.counts.views(), saved.counts.likes()
	return saved, nil
}
