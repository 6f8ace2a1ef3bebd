package kafkasink

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/rowstream"
)

// How it works. A Mirror for each source picks the rows that have changed since
// the last flush whose records all were acknowledged. What the topic holds is not
// asked for: the sink's own memory stands in for the standing that a store would
// keep, so a process begins by sending all its rows.
//
// A record that has been sent cannot be taken back: the client retries it until
// the broker has it, after Write's context has ended too. The next Write first
// waits for those. So there are never records of two flushes under way, the ones
// of an older snapshot are never behind those of a newer one in a partition, and
// compaction keeps the newer.

var (
	// ErrDenied is wrapped when the broker does not let the client in, or not
	// write to the topic. From Write it is terminal, see snapshot.IsTerminal.
	ErrDenied = errors.New("hotcount/kafkasink: access denied")

	// ErrTopic is wrapped when there is no such topic.
	ErrTopic = errors.New("hotcount/kafkasink: no such topic")

	// ErrTooLarge is wrapped when a row, with its sketch, is larger than the
	// client or the topic takes. From Write it is terminal.
	ErrTooLarge = errors.New("hotcount/kafkasink: the row is too large")
)

// Options say where a Sink publishes. Both are required.
type Options struct {
	// Client is the caller's, who closes it. It must produce idempotently.
	Client *kgo.Client

	// Topic is compacted, see the package comment.
	Topic string
}

// A Sink publishes the counts of a fleet to a Kafka topic. Writes come one at a
// time.
type Sink struct {
	client  *kgo.Client
	topic   string
	sources map[snapshot.WriterID]*source
	last    *flight // nil before the first
}

var _ snapshot.Sink = (*Sink)(nil)

// A source is a writer whose snapshots come to the sink.
type source struct {
	mirror   snapshot.Mirror
	standing snapshot.Standing // what the topic holds, as far as acknowledged
}

// New returns a Sink. It does not connect.
func New(o Options) (*Sink, error) {
	switch {
	case o.Client == nil:
		return nil, errors.New("hotcount/kafkasink: Options.Client is nil")
	case o.Topic == "":
		return nil, errors.New("hotcount/kafkasink: Options.Topic is empty")
	case o.Client.OptValue(kgo.DisableIdempotentWrite) == true:
		return nil, errors.New("hotcount/kafkasink: Options.Client does not produce idempotently")
	}
	return &Sink{client: o.Client, topic: o.Topic, sources: make(map[snapshot.WriterID]*source)}, nil
}

// String names the sink in logs: "kafka" and the topic.
func (k *Sink) String() string { return "kafka " + k.topic }

// Write implements snapshot.Sink. It sends a record for each row that has changed
// and waits until all are acknowledged.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	if k.last != nil {
		if err := k.last.wait(ctx); err != nil {
			return fmt.Errorf("hotcount/kafkasink: records of an earlier snapshot are under way: %w", err)
		}
	}
	src := k.sources[s.Writer]
	if src == nil {
		src = &source{}
		k.sources[s.Writer] = src
	}
	m := &src.mirror
	m.Follow(s)
	if step, err := m.Settle(src.standing); err != nil || step == snapshot.Done {
		return err
	}
	counters, sketches := m.Pick(s)
	f := newFlight()
	k.last = f
	for _, c := range counters {
		k.send(ctx, f, rowstream.Row{Key: c.Key, Writer: m.Writer(), Created: c.Created, Seq: s.Seq, Value: c.Value})
	}
	for _, u := range sketches {
		k.send(ctx, f, rowstream.Row{Key: u.Key, Writer: m.Writer(), Created: u.Created, Seq: s.Seq, Scheme: u.Scheme, Sketch: u.Sketch})
	}
	f.land(nil) // what newFlight began with
	if err := f.wait(ctx); err != nil {
		return fmt.Errorf("hotcount/kafkasink: %w", err)
	}
	if f.err != nil {
		return typed(f.err)
	}
	src.standing = snapshot.Standing{Seq: s.Seq, Mark: m.Mark()}
	m.Hold(s)
	return nil
}

func (k *Sink) send(ctx context.Context, f *flight, r rowstream.Row) {
	f.take()
	value, err := r.AppendBinary(nil)
	if err != nil {
		f.land(err)
		return
	}
	record := &kgo.Record{Topic: k.topic, Key: r.AppendID(nil), Value: value}
	k.client.Produce(ctx, record, func(_ *kgo.Record, err error) { f.land(err) })
}

// A flight is the records of one flush until all are acknowledged or given up.
type flight struct {
	mu     sync.Mutex
	left   int
	err    error // the first; may be read after landed is closed
	landed chan struct{}
}

// newFlight returns a flight of one record, so that it does not end before the
// last has been taken.
func newFlight() *flight { return &flight{left: 1, landed: make(chan struct{})} }

func (f *flight) take() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left++
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

func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.landed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kinds tells the sink's errors by the client's.
var kinds = []struct {
	of       error
	err      error
	terminal bool
}{
	{kerr.TopicAuthorizationFailed, ErrDenied, true},
	{kerr.ClusterAuthorizationFailed, ErrDenied, true},
	{kerr.SaslAuthenticationFailed, ErrDenied, true},
	{kerr.UnknownTopicOrPartition, ErrTopic, false},
	{kerr.MessageTooLarge, ErrTooLarge, true},
	{kerr.RecordListTooLarge, ErrTooLarge, true},
}

// typed wraps an error of the client in the sink's own. What is not known is
// taken for something that passes.
func typed(err error) error {
	for _, kind := range kinds {
		if errors.Is(err, kind.of) {
			err = fmt.Errorf("%w: %w", kind.err, err)
			if kind.terminal {
				err = snapshot.Terminal(err)
			}
			return err
		}
	}
	return fmt.Errorf("hotcount/kafkasink: %w", err)
}
