package natssink

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

// standing returns what the stream says of a writer, and the sequence of the
// message that says it, 0 if there is none.
func (k *Sink) standing(ctx context.Context, stream jetstream.Stream, w snapshot.WriterID) (rowstream.Standing, uint64, error) {
	st := rowstream.Standing{Writer: w}
	m, err := k.last(ctx, stream, k.writerSubject(w))
	if err != nil || m == nil {
		return st, 0, err
	}
	have, err := rowstream.Decode(m.Data)
	if err == nil && have.Standing == nil {
		err = errors.New("hotcount/natssink: rows where a standing belongs")
	}
	if err != nil {
		return st, 0, fmt.Errorf("hotcount/natssink: %w: %w on %s", export.ErrForeign, err, m.Subject)
	}
	return *have.Standing, m.Sequence, nil
}

// putStanding replaces the standing in message at, and returns the sequence of the
// new one.
func (k *Sink) putStanding(ctx context.Context, st rowstream.Standing, at uint64) (uint64, error) {
	data, err := st.AppendBinary(nil)
	if err != nil {
		return 0, err
	}
	// What comes after at differs from all else that ever did: by its marks, or
	// as a step that follows from them.
	id := fmt.Sprintf("%x.%x.%d.%t.%t.%d", st.Mark, st.Pending, st.Seq, st.Dead, st.Gone, at)
	return k.put(ctx, k.name, k.writerSubject(st.Writer), id, data, at)
}

// last returns the last message on a subject, nil if there is none.
func (k *Sink) last(ctx context.Context, stream jetstream.Stream, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, k.ackWait)
	defer cancel()
	m, err := stream.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, k.explain(err)
	}
	return m, nil
}
