package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hotcount/hotcount/cmd/internal/sinks"
	"github.com/hotcount/hotcount/cmd/internal/totals"
	"github.com/hotcount/hotcount/series"
)

const (
	// fleetEvery is how often the store is asked for the fleet's totals.
	fleetEvery = 2 * time.Second

	// fleetTimeout is how long it may take to answer.
	fleetTimeout = 10 * time.Second

	// fleetPattern selects the views and likes.
	fleetPattern = "post_*_total"
)

// A fleet is what all demos that share a store have counted, as that store says.
type fleet struct {
	target sinks.Target
	reader sinks.Reader
	before counts // when this run began
	stop   context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	last counts
	err  error
}

// openFleet reads the totals once, before this run adds to them, and then again
// and again.
func openFleet(ctx context.Context, target sinks.Target) (*fleet, error) {
	if err := prepare(ctx, target); err != nil {
		return nil, fmt.Errorf("%v: %w", target, err)
	}
	reader, err := target.Reader(ctx)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", target, err)
	}
	f := &fleet{target: target, reader: reader, ended: make(chan struct{})}
	if f.before, err = f.read(ctx); err != nil {
		reader.Close()
		return nil, fmt.Errorf("%v: %w", target, err)
	}
	f.last = f.before
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	go f.follow(ctx)
	return f, nil
}

// prepare opens the store for writing, which makes what has to be there before
// it can be read.
func prepare(ctx context.Context, target sinks.Target) error {
	sink, err := target.Sink(ctx)
	if err != nil {
		return err
	}
	return target.Clean(sink.Close())
}

func (f *fleet) follow(ctx context.Context) {
	defer close(f.ended)
	tick := time.NewTicker(fleetEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c, err := f.read(ctx)
			f.mu.Lock()
			if f.err = err; err == nil {
				f.last = c
			}
			f.mu.Unlock()
		}
	}
}

// read asks the store for the totals.
func (f *fleet) read(ctx context.Context) (c counts, err error) {
	ctx, cancel := context.WithTimeout(ctx, fleetTimeout)
	defer cancel()
	t, err := totals.Read(ctx, f.reader, fleetPattern)
	if err != nil {
		return counts{}, f.target.Clean(err)
	}
	for _, row := range t.Counters {
		key, err := series.ParseKey(row.Series)
		if err != nil {
			return counts{}, err
		}
		c.add(key.Name(), key.Label("post"), row.Value)
	}
	return c, nil
}

// newest returns what the store last said.
func (f *fleet) newest() (counts, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.err
}

func (f *fleet) close() {
	f.stop()
	<-f.ended
	f.reader.Close()
}

// checkFleet compares the store's totals with what this run has added to them:
// nobody else can have taken anything away.
func (r *run) checkFleet(ctx context.Context) error {
	if r.fleet == nil {
		return nil
	}
	now, err := r.fleet.read(context.WithoutCancel(ctx))
	if err != nil {
		return fmt.Errorf("%v: %w", r.fleet.target, err)
	}
	r.result.checkFleet(r.fleet.target.String(), now, r.fleet.before)
	return nil
}
