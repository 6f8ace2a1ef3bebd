package natssink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/rowstream"
)

const (
	// maxClaims is how often one Write asks again, for a standing or a row,
	// before it leaves it to the next. Twice is enough unless others
	// interfere.
	maxClaims = 8

	// maxSends is how often a message is sent before Write gives up.
	maxSends = 3

	// inFlight is how many messages wait for their acknowledgements at once.
	// At a round trip of 1 ms it allows 256,000 a second, more than a server
	// takes.
	inFlight = 256
)

// A source is a writer whose snapshots come to the sink.
type source struct {
	mirror snapshot.Mirror
	last   map[rowID]uint64 // sequences of the rows' last messages, where known
}

// Write implements snapshot.Sink. It takes four round trips and a message for each
// row that has changed, inFlight of them at a time.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	stream, err := k.open(ctx)
	if err != nil {
		return err
	}
	src := k.sources[s.Writer]
	if src == nil {
		src = &source{last: make(map[rowID]uint64)}
		k.sources[s.Writer] = src
	}
	m := &src.mirror
	m.Follow(s)
	for range maxClaims {
		st, at, err := k.standing(ctx, stream, m.Writer())
		if err != nil {
			return err
		}
		switch step, err := m.Settle(st); {
		case err != nil || step == snapshot.Done:
			return err
		case step == snapshot.Ask:
			clear(src.last) // they are of the old id
			continue
		}
		st.Pending = m.Claim()
		switch at, err = k.putStanding(ctx, m.Writer(), st, at); {
		case errors.Is(err, errOvertaken):
			continue
		case err != nil:
			return err
		}
		return k.flush(ctx, stream, src, s, at)
	}
	return fmt.Errorf("%w: writer %v", ErrInterrupted, m.Writer())
}

// putStanding replaces the standing in message at. The id tells a claim from the
// commit of the same flush.
func (k *Sink) putStanding(ctx context.Context, w snapshot.WriterID, st snapshot.Standing, at uint64) (uint64, error) {
	id := fmt.Sprintf("%x.claim", st.Pending)
	if st.Pending.IsZero() {
		id = fmt.Sprintf("%x.commit", st.Mark)
	}
	return k.put(ctx, k.writerSubject(w), id, formatStanding(st), at)
}

// flush publishes what the stream does not hold of s, under the claim in message
// claimed.
func (k *Sink) flush(ctx context.Context, stream jetstream.Stream, src *source, s *snapshot.Snapshot, claimed uint64) error {
	m := &src.mirror
	rows := rowsOf(m, s)
	if len(src.last) > 2*(len(rows)+len(s.Counters)+len(s.Uniques)) {
		clear(src.last) // of rows that are gone; asking for those that are not is all it costs
	}
	if err := k.putRows(ctx, stream, src, rows); err != nil {
		return err
	}
	_, err := k.putStanding(ctx, m.Writer(), snapshot.Standing{Seq: s.Seq, Mark: m.Mark()}, claimed)
	if errors.Is(err, errOvertaken) {
		return fmt.Errorf("%w: writer %v", ErrInterrupted, m.Writer())
	}
	if err != nil {
		return err
	}
	m.Hold(s)
	return nil
}

// rowsOf returns what m picks of s, to be published.
func rowsOf(m *snapshot.Mirror, s *snapshot.Snapshot) []rowstream.Row {
	counters, sketches := m.Pick(s)
	rows := make([]rowstream.Row, 0, len(counters)+len(sketches))
	for _, c := range counters {
		rows = append(rows, rowstream.Row{Key: c.Key, Writer: m.Writer(), Created: c.Created, Seq: s.Seq, Value: c.Value})
	}
	for _, u := range sketches {
		rows = append(rows, rowstream.Row{Key: u.Key, Writer: m.Writer(), Created: u.Created, Seq: s.Seq, Scheme: u.Scheme, Sketch: u.Sketch})
	}
	return rows
}

// putRows publishes rows, many at once. The first error ends it.
func (k *Sink) putRows(ctx context.Context, stream jetstream.Stream, src *source, rows []rowstream.Row) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	mark := fmt.Sprintf("%x.", src.mirror.Mark())
	ids, ats := make([]rowID, len(rows)), make([]uint64, len(rows))
	for i, r := range rows {
		ids[i] = rowID{hashSeries(r.Key), r.Created, r.Sketch != nil}
		ats[i] = src.last[ids[i]]
	}
	var next atomic.Int64
	var lanes sync.WaitGroup
	for range min(inFlight, len(rows)) {
		lanes.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(rows)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				at, err := k.putRow(ctx, stream, &rows[i], ids[i], fmt.Sprint(mark, i), ats[i])
				if err != nil {
					cancel(err)
					return
				}
				ats[i] = at
			}
		})
	}
	lanes.Wait()
	for i, id := range ids {
		src.last[id] = ats[i] // a wrong one is found out
	}
	return context.Cause(ctx)
}

// putRow publishes a row in place of the one in message at, unless what is there
// is as new. It returns the sequence of the message that is there then.
func (k *Sink) putRow(ctx context.Context, stream jetstream.Stream, r *rowstream.Row, id rowID, msgID string, at uint64) (uint64, error) {
	data, err := r.AppendBinary(nil)
	if err != nil {
		return 0, err
	}
	subject := k.rowSubject(r.Key.Name(), r.Writer, id)
	for range maxClaims {
		put, err := k.put(ctx, subject, msgID, data, at)
		if !errors.Is(err, errOvertaken) {
			return put, err
		}
		there, err := k.last(ctx, stream, subject)
		if err != nil {
			return 0, err
		}
		if there == nil {
			at = 0
			continue
		}
		have, err := rowstream.Decode(there.Data)
		if err != nil {
			return 0, fmt.Errorf("%w: %w on %s", ErrForeign, err, subject)
		}
		if at = there.Sequence; have.Seq >= r.Seq {
			return at, nil
		}
	}
	return 0, fmt.Errorf("%w: at %s", ErrInterrupted, subject)
}

// put publishes a message if the last one on its subject still is the one at the
// given sequence, else it returns errOvertaken. It returns the message's own.
func (k *Sink) put(ctx context.Context, subject, id string, data []byte, at uint64) (uint64, error) {
	var last error
	for range maxSends {
		m := nats.NewMsg(subject)
		m.Data = data
		one, cancel := context.WithTimeout(ctx, k.ackWait)
		ack, err := k.js.PublishMsg(one, m,
			jetstream.WithMsgID(id),
			jetstream.WithExpectStream(k.name),
			jetstream.WithExpectLastSequencePerSubject(at))
		cancel()
		switch {
		case err == nil:
			return ack.Sequence, nil
		case overtaken(err):
			return 0, errOvertaken
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return 0, typed(err)
		}
		last = err // perhaps only the acknowledgement was lost
	}
	return 0, typed(fmt.Errorf("no acknowledgement: %w", last))
}
