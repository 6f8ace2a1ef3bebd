package natssink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	// readAhead is how many messages are on their way to a reader at once.
	readAhead = 500

	// quiet is for how long nothing may come before a reader asks whether
	// something got lost, or has been removed.
	quiet = time.Second

	// maxReads is how often a reader starts over.
	maxReads = 4

	// maxAsks is how often a reader that is at the end asks whether that is
	// so, while others put it off.
	maxAsks = 8

	// idleReader is for how long the server keeps a reader that is gone.
	idleReader = time.Minute
)

// Totals implements export.Reader. It reads every row of the metric whose name
// q.Prefix begins with, up to a brace, or of all metrics if it has none, and all
// standings: whoever asks often keeps a Fold with Follow. A sum that lacks rows is
// of no use, so with an error, which then is an *export.PartialError, it returns
// no totals.
func (k *Sink) Totals(ctx context.Context, q export.Query) ([]export.CounterTotal, error) {
	f, err := k.readAll(ctx, k.name, k.filter(counterToken, q.Prefix))
	if err != nil {
		return nil, err
	}
	return f.Totals(ctx, q)
}

// Uniques implements export.Reader, at the cost of Totals. A series whose
// writers hash in different ways has a total for each of them.
func (k *Sink) Uniques(ctx context.Context, q export.Query) ([]export.UniquesTotal, error) {
	f, err := k.readAll(ctx, k.name, k.filter(uniquesToken, q.Prefix))
	if err != nil {
		return nil, err
	}
	return f.Uniques(ctx, q)
}

// Window implements export.Reader. It reads every bucket of the metric with that
// resolution, and all standings. With an error it returns no buckets.
func (k *Sink) Window(ctx context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]export.BucketTotal, error) {
	if k.windows == "" {
		return nil, fmt.Errorf("hotcount/natssink: %w: Options.Windows is empty", export.ErrSchema)
	}
	f, err := k.readAll(ctx, k.windows, fmt.Sprintf("%s.%s.%d.>", k.windows, key.Name(), int64(resolution)))
	if err != nil {
		return nil, err
	}
	return f.Window(ctx, key, resolution, from, to)
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
		err := k.read(ctx, k.name, k.name+".>", fold(f), caughtUp)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if kind := export.Kind(err); kind == export.ErrDenied || kind == export.ErrSchema || kind == export.ErrForeign {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(quiet):
		}
	}
}

// readAll returns a fold of what filter selects of a stream as it is now. Standings
// are read after the rows, so that no row is without its writer's; and if a roll-up
// has ended meanwhile, all is read again.
func (k *Sink) readAll(ctx context.Context, stream, filter string) (*rowstream.Fold, error) {
	standings := k.name + "." + writerToken + ".>"
	err := errGap
	for range maxReads {
		var f rowstream.Fold
		var before, after uint64
		note := func(seq *uint64) applier {
			return func(m *received) error {
				if st := m.message.Standing; st != nil && st.Writer.IsZero() {
					*seq = st.Seq
				}
				return f.Apply(m.message)
			}
		}
		err = k.read(ctx, k.name, k.writerSubject(snapshot.WriterID{}), note(&before), nil)
		if err == nil {
			err = k.read(ctx, stream, filter, fold(&f), nil)
		}
		if err == nil {
			err = k.read(ctx, k.name, standings, note(&after), nil)
		}
		if err == nil && before != after {
			err = errGap
		}
		if err == nil {
			return &f, nil
		}
		if !errors.Is(err, errGap) || ctx.Err() != nil {
			break
		}
	}
	return nil, &export.PartialError{Missing: []string{filter}, Err: err}
}

// errGap says that messages got lost between the server and a reader, or that what
// came first is no longer so.
var errGap = errors.New("hotcount/natssink: messages got lost on their way")

// received is a message with what the stream says of it.
type received struct {
	message rowstream.Message
	subject string
	at      uint64
	when    time.Time
}

type applier func(*received) error

func fold(f *rowstream.Fold) applier {
	return func(m *received) error { return f.Apply(m.message) }
}

// read applies what filter selects of a stream, from the start. Whenever all that
// is there has been applied, read calls caughtUp, or ends if there is none.
func (k *Sink) read(ctx context.Context, name, filter string, apply applier, caughtUp func()) error {
	stream, err := k.open(ctx, name)
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
		return k.explain(err)
	}
	defer func() { // or the server does, in time
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.ackWait)
		defer cancel()
		stream.DeleteConsumer(ctx, c.CachedInfo().Name)
	}()
	r := &reader{consumer: c, to: apply, caughtUp: caughtUp, last: func(ctx context.Context) (uint64, error) {
		m, err := k.last(ctx, stream, filter)
		if m == nil {
			return 0, err
		}
		return m.Sequence, nil
	}}
	more, err := r.left(ctx, c.CachedInfo().NumPending)
	for more && err == nil {
		more, err = r.batch(ctx)
	}
	return err
}

// A reader applies the messages of one consumer. How many messages a server says
// are left is only a hint when to ask for one that goes on: while messages are
// replaced that is never 0. The end is where the last message on the stream is one
// that has come: each other one that was there when the stream was asked has come
// before it, since a message that replaces another one goes to the end. On a stream
// that is never at rest, all up to where it ended when it was asked for the
// maxAsks-th time will do.
type reader struct {
	consumer jetstream.Consumer
	last     func(context.Context) (uint64, error) // the stream's, of those selected
	to       applier
	caughtUp func() // nil if the reader ends then

	got     uint64 // messages, so the consumer's sequence of the last
	at      uint64 // the stream's sequence of that
	target  uint64 // where the stream ended when it was asked
	asked   int    // how often, since the reader was last at the end
	pending uint64 // messages that the server said were left
}

// left takes note of how many messages the server says are left. It reports whether
// to go on.
func (r *reader) left(ctx context.Context, n uint64) (bool, error) {
	if r.pending = n; r.at < r.target || n > 0 && r.caughtUp != nil {
		return true, nil
	}
	if r.asked == maxAsks {
		return r.end(), nil
	}
	return r.ask(ctx)
}

// ask asks where the stream ends. It reports whether to go on.
func (r *reader) ask(ctx context.Context) (more bool, err error) {
	if r.target, err = r.last(ctx); err != nil {
		return false, err
	}
	r.asked++
	if r.at < r.target {
		return true, nil
	}
	return r.end(), nil
}

// end says that all has come. It reports whether to go on.
func (r *reader) end() bool {
	r.pending, r.asked = 0, 0
	if r.caughtUp == nil {
		return false
	}
	r.caughtUp()
	return true
}

// batch applies up to readAhead messages, until there is a pause. It reports
// whether to go on.
func (r *reader) batch(ctx context.Context) (more bool, err error) {
	some, cancel := context.WithTimeout(ctx, quiet)
	defer cancel()
	batch, err := r.consumer.Fetch(readAhead, jetstream.FetchContext(some))
	if err != nil {
		return false, explain(err)
	}
	before := r.got
	for m := range batch.Messages() {
		pending, err := r.apply(m)
		if err != nil {
			return false, err
		}
		if more, err := r.left(ctx, pending); !more || err != nil {
			return false, err
		}
	}
	if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return false, explain(err)
	}
	switch {
	case r.got == before:
		return r.silent(ctx)
	case r.pending > 0:
		return r.left(ctx, 0)
	}
	return true, ctx.Err()
}

// silent finds out why nothing comes. It reports whether to go on.
func (r *reader) silent(ctx context.Context) (bool, error) {
	info, err := r.consumer.Info(ctx)
	switch {
	case err != nil:
		return false, explain(err)
	case info.Delivered.Consumer != r.got:
		return false, errGap
	case r.pending == 0 && r.at >= r.target:
		return true, nil
	}
	missing := r.target
	more, err := r.ask(ctx) // perhaps what was left has been removed
	if err == nil && info.NumPending == 0 && r.at < missing && r.target == missing {
		return false, errGap
	}
	return more, err
}

// apply returns how many messages the server had left when it sent m.
func (r *reader) apply(m jetstream.Msg) (pending uint64, err error) {
	md, err := m.Metadata()
	if err != nil {
		return 0, fmt.Errorf("hotcount/natssink: %w: %w", export.ErrForeign, err)
	}
	if r.got++; md.Sequence.Consumer != r.got {
		return 0, errGap
	}
	r.at = md.Sequence.Stream
	have, err := rowstream.Decode(m.Data())
	if err == nil {
		err = r.to(&received{have, m.Subject(), md.Sequence.Stream, md.Timestamp})
	}
	if err != nil {
		return 0, fmt.Errorf("hotcount/natssink: %w: %w on %s", export.ErrForeign, err, m.Subject())
	}
	return md.NumPending, nil
}
