package kafkasink

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount/sinkkit/rowstream"
)

// A flight is the records of one transaction until all are acknowledged or given
// up.
type flight struct {
	ctx    context.Context
	client *kgo.Client

	mu     sync.Mutex
	left   int
	err    error // the first; may be read after landed is closed
	landed chan struct{}
}

// newFlight returns a flight of one record, so that it does not end before the
// last has been taken.
func newFlight(ctx context.Context, client *kgo.Client) *flight {
	return &flight{ctx: ctx, client: client, left: 1, landed: make(chan struct{})}
}

func (f *flight) sendRow(topic string, r rowstream.Row) {
	value, err := rowstream.Append(nil, r)
	f.send(&kgo.Record{Topic: topic, Key: r.AppendID(nil), Value: value}, err)
}

func (f *flight) sendStanding(topic string, s rowstream.Standing) {
	value, err := s.AppendBinary(nil)
	f.send(&kgo.Record{Topic: topic, Key: s.AppendID(nil), Value: value}, err)
}

func (f *flight) send(r *kgo.Record, err error) {
	f.mu.Lock()
	f.left++
	f.mu.Unlock()
	if err != nil {
		f.land(err)
		return
	}
	f.client.Produce(f.ctx, r, func(_ *kgo.Record, err error) { f.land(err) })
}

func (f *flight) land(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	if f.left--; f.left == 0 {
		close(f.landed)
	}
}

// wait returns when all records have landed, or the context ends.
func (f *flight) wait() error {
	f.land(nil) // what newFlight began with
	select {
	case <-f.landed:
		return f.err
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
}
