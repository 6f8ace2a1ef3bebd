package natssink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/rowstream"
)

const (
	// readAhead is how many messages are on their way to a reader at once.
	readAhead = 2000

	// quiet is for how long nothing may come before a reader asks whether
	// something got lost.
	quiet = time.Second

	// maxReads is how often a reader starts over.
	maxReads = 4

	// idleReader is for how long the server keeps a reader that is gone.
	idleReader = time.Minute
)

// Totals implements snapshot.Reader. It reads every row of the metric whose name
// q.Prefix begins with, up to a brace, or of all metrics if it has none: whoever
// asks often keeps a Fold with Follow. A sum that lacks rows is of no use, so with
// an error, which then is a *snapshot.PartialError, it returns no totals.
func (k *Sink) Totals(ctx context.Context, q snapshot.Query) ([]snapshot.Total, error) {
	var f rowstream.Fold
	if err := k.readAll(ctx, k.filter(counterToken, q.Prefix), &f); err != nil {
		return nil, err
	}
	return f.Totals(ctx, q)
}

// Uniques implements snapshot.Reader, at the cost of Totals. A series whose
// writers hash in different ways has a total for each of them.
func (k *Sink) Uniques(ctx context.Context, q snapshot.Query) ([]snapshot.UniquesTotal, error) {
	var f rowstream.Fold
	if err := k.readAll(ctx, k.filter(uniquesToken, q.Prefix), &f); err != nil {
		return nil, err
	}
	return f.Uniques(ctx, q)
}

// Follow applies all rows on the stream to f, and then those that come, until ctx
// ends or the server refuses. It calls caughtUp, if it is not nil, each time that
// f has all that is there; f may be read any time. What gets lost on the way is
// read again, from the start. The error is never nil.
func (k *Sink) Follow(ctx context.Context, f *rowstream.Fold, caughtUp func()) error {
	if caughtUp == nil {
		caughtUp = func() {}
	}
	for {
		err := k.read(ctx, k.name+".>", f, func() bool { caughtUp(); return true })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if snapshot.IsTerminal(err) || errors.Is(err, ErrForeign) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(quiet):
		}
	}
}

// readAll applies to f what filter selects of the stream as it is now.
func (k *Sink) readAll(ctx context.Context, filter string, f *rowstream.Fold) error {
	var err error
	for range maxReads {
		err = k.read(ctx, filter, f, func() bool { return false })
		if !errors.Is(err, errGap) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return &snapshot.PartialError{Missing: []string{filter}, Err: err}
	}
	return nil
}

// errGap says that messages got lost between the server and a reader.
var errGap = errors.New("hotcount/natssink: messages got lost on their way")

// read applies to f what filter selects, from the start. Whenever f has all that
// is there, read calls caughtUp, and ends if that is false.
func (k *Sink) read(ctx context.Context, filter string, f *rowstream.Fold, caughtUp func() bool) error {
	stream, err := k.open(ctx)
	if err != nil {
		return err
	}
	c, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject:     filter,
		DeliverPolicy:     jetstream.DeliverAllPolicy,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: idleReader,
		MemoryStorage:     true,
		Replicas:          1,
	})
	if err != nil {
		return typed(err)
	}
	defer func() { // or the server does, in time
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.ackWait)
		defer cancel()
		stream.DeleteConsumer(ctx, c.CachedInfo().Name)
	}()
	if c.CachedInfo().NumPending == 0 && !caughtUp() {
		return nil
	}
	r := &reader{consumer: c, fold: f, writers: k.name + "." + writerToken + "."}
	for {
		switch more, err := r.batch(ctx, caughtUp); {
		case err != nil:
			return err
		case !more:
			return nil
		}
	}
}

// A reader applies the messages of one consumer to a fold.
type reader struct {
	consumer jetstream.Consumer
	fold     *rowstream.Fold
	writers  string // prefix of subjects without rows
	got      uint64 // messages, so the consumer's sequence of the last
}

// batch applies up to readAhead messages, until there is a pause. It reports
// whether to go on.
func (r *reader) batch(ctx context.Context, caughtUp func() bool) (more bool, err error) {
	some, cancel := context.WithTimeout(ctx, quiet)
	defer cancel()
	batch, err := r.consumer.Fetch(readAhead, jetstream.FetchContext(some))
	if err != nil {
		return false, typed(err)
	}
	before := r.got
	for m := range batch.Messages() {
		switch pending, err := r.apply(m); {
		case err != nil:
			return false, err
		case pending == 0 && !caughtUp():
			return false, nil
		}
	}
	if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return false, typed(err)
	}
	if r.got > before {
		return true, ctx.Err()
	}
	switch info, err := r.consumer.Info(ctx); {
	case err != nil:
		return false, typed(err)
	case info.Delivered.Consumer != r.got:
		return false, errGap
	}
	return true, nil
}

// apply returns how many messages the server had left when it sent m.
func (r *reader) apply(m jetstream.Msg) (pending uint64, err error) {
	md, err := m.Metadata()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	if r.got++; md.Sequence.Consumer != r.got {
		return 0, errGap
	}
	if len(m.Subject()) > len(r.writers) && m.Subject()[:len(r.writers)] == r.writers {
		return md.NumPending, nil
	}
	row, err := rowstream.Decode(m.Data())
	if err == nil {
		err = r.fold.Apply(row)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w on %s", ErrForeign, err, m.Subject())
	}
	return md.NumPending, nil
}
