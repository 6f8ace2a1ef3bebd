package natssink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	// maxClaims is how often one Write asks again, for a standing or a slot,
	// before it leaves it to the next. Twice is enough unless others
	// interfere.
	maxClaims = 8

	// maxSends is how often a message is sent before Write gives up.
	maxSends = 3

	// inFlight is how many messages wait for their acknowledgements at once.
	// At a round trip of 1 ms it allows 64,000 a second, of 32 rows each.
	inFlight = 64
)

// A source is a writer whose snapshots come to the sink.
type source struct {
	mirror  sinkkit.Mirror
	buckets sinkkit.BucketMirror

	at    uint64    // the sequence of the last standing that we put, 0 if none
	slots [2]*slots // of rows that stay and of buckets
}

// Write implements export.Sink. It takes four round trips and a message for each
// slotRows rows of which some have changed, inFlight of them at a time. What has
// been acknowledged when ctx ends is not sent again by the next Write.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	stream, err := k.open(ctx, k.name)
	if err != nil {
		return err
	}
	src := k.sources[s.Writer]
	if src == nil {
		src = &source{}
		k.sources[s.Writer] = src
	}
	m := &src.mirror
	m.Follow(s)
	for range maxClaims {
		st, at, err := k.standing(ctx, stream, m.Writer())
		if err != nil {
			return err
		}
		switch step, err := m.Settle(st.Standing); {
		case err != nil || step == sinkkit.Done:
			return err
		case step == sinkkit.Ask:
			src.slots = [2]*slots{} // those are of the old id
			continue
		}
		sure, err := k.sure(ctx, src, at)
		if err != nil {
			return err
		}
		k.prepare(src, sure)
		final := src.at == 0 && st.Seq > 0 // an earlier process's last snapshot, see slots.set
		whole := st.Seq
		st.Pending = m.Claim()
		switch at, err = k.putStanding(ctx, st, at); {
		case errors.Is(err, errOvertaken):
			continue
		case err != nil:
			return err
		}
		src.at = at
		return k.flush(ctx, src, s, whole, final)
	}
	return fmt.Errorf("hotcount/natssink: %w: writer %v", export.ErrInterrupted, m.Writer())
}

// sure reports whether the streams still hold what was acknowledged. They do if the
// writer's standing is the one that we left, and, in the middle of a flush, the
// newest message of that is there: a stream loses its end first.
func (k *Sink) sure(ctx context.Context, src *source, at uint64) (bool, error) {
	if at != src.at {
		return false, nil
	}
	for _, s := range src.slots {
		if s == nil || s.newest == nil {
			continue
		}
		stream, err := k.open(ctx, s.stream)
		if err != nil {
			return false, err
		}
		m, err := k.last(ctx, stream, s.newest.subject)
		if err != nil || m == nil || m.Sequence != s.newest.at {
			return false, err
		}
	}
	return true, nil
}

// prepare gets a source ready for a flush.
func (k *Sink) prepare(src *source, sure bool) {
	if src.slots[0] == nil {
		w := src.mirror.Writer()
		src.slots[0] = newSlots(k.name, func(g group, n int) string { return k.slotSubject(g.kind, g.name, w, n) })
		src.slots[1] = newSlots(k.windows, func(g group, n int) string { return k.bucketSubject(g.name, g.cell, w, n) })
		src.at = 0
	}
	if !sure {
		for _, s := range src.slots {
			s.doubt()
		}
	}
}

// flush publishes what the streams do not hold of s. They hold the writer's snapshot
// whole.
func (k *Sink) flush(ctx context.Context, src *source, s *snapshot.Snapshot, whole uint64, final bool) error {
	m := &src.mirror
	k.pick(src, s, whole, final)
	for _, rows := range src.slots {
		if err := k.putSlots(ctx, rows, m.Mark(), whole); err != nil {
			return err
		}
	}
	st := rowstream.Standing{Writer: m.Writer(), Standing: sinkkit.Standing{Seq: s.Seq, Mark: m.Mark()}}
	at, err := k.putStanding(ctx, st, src.at)
	if errors.Is(err, errOvertaken) {
		return fmt.Errorf("hotcount/natssink: %w: writer %v", export.ErrInterrupted, m.Writer())
	}
	if err != nil {
		return err
	}
	src.at = at
	for _, rows := range src.slots {
		rows.whole()
	}
	m.Hold(s)
	return nil
}

// pick sets what the mirrors pick of s.
func (k *Sink) pick(src *source, s *snapshot.Snapshot, whole uint64, final bool) {
	m := &src.mirror
	row := func(key series.Key, created, value int64) rowstream.Row {
		return rowstream.Row{Key: key, Writer: m.Writer(), Created: created, Seq: s.Seq, Value: value}
	}
	counters, sketches := m.Pick(s)
	for _, c := range counters {
		src.slots[0].set(counterToken, row(c.Key, c.Created, c.Value), whole, final)
	}
	for _, u := range sketches {
		r := row(u.Key, u.Created, 0)
		r.Scheme, r.Sketch = u.Scheme, u.Sketch
		src.slots[0].set(uniquesToken, r, whole, final)
	}
	if k.windows == "" {
		return
	}
	for _, b := range src.buckets.Pick(m, s) {
		r := row(b.Key, b.Start, b.Count)
		r.Resolution = b.Resolution
		src.slots[1].set("", r, whole, final)
	}
}

// putSlots publishes what has been set, many messages at once. The first error ends
// it.
func (k *Sink) putSlots(ctx context.Context, rows *slots, mark sinkkit.Mark, whole uint64) error {
	defer rows.sent()
	if len(rows.touched) == 0 {
		return nil
	}
	stream, err := k.open(ctx, rows.stream)
	if err != nil {
		return err
	}
	return each(ctx, rows.touched, func(ctx context.Context, i int, sl *slot) error {
		return k.putSlot(ctx, stream, sl, fmt.Sprintf("%x.%d", mark, i), whole)
	})
}

// putSlot publishes the rows of a slot in place of the message that is there, unless
// that has them.
func (k *Sink) putSlot(ctx context.Context, stream jetstream.Stream, sl *slot, id string, whole uint64) error {
	for try := range maxClaims {
		at, err := k.putRows(ctx, stream, sl, fmt.Sprint(id, ".", try))
		if err == nil {
			sl.at, sl.stale = at, false
		}
		if !errors.Is(err, errOvertaken) {
			return err
		}
		there, err := k.last(ctx, stream, sl.subject)
		if err != nil {
			return err
		}
		if sl.at = 0; there == nil {
			continue
		}
		have, err := rowstream.Decode(there.Data)
		if err != nil {
			return fmt.Errorf("hotcount/natssink: %w: %w on %s", export.ErrForeign, err, sl.subject)
		}
		sl.at = there.Sequence
		if sl.merge(have.Rows, whole) {
			sl.stale = false
			return nil
		}
	}
	return fmt.Errorf("hotcount/natssink: %w: at %s", export.ErrInterrupted, sl.subject)
}

func (k *Sink) putRows(ctx context.Context, stream jetstream.Stream, sl *slot, id string) (uint64, error) {
	data, err := rowstream.Append(nil, sl.rows...)
	if err != nil {
		return 0, err
	}
	return k.put(ctx, stream.CachedInfo().Config.Name, sl.subject, id, data, sl.at)
}

// put publishes a message if the last one on its subject still is the one at the
// given sequence, else it returns errOvertaken. It returns the message's own.
func (k *Sink) put(ctx context.Context, stream, subject, id string, data []byte, at uint64) (uint64, error) {
	var last error
	for range maxSends {
		m := nats.NewMsg(subject)
		m.Data = data
		one, cancel := context.WithTimeout(ctx, k.ackWait)
		ack, err := k.js.PublishMsg(one, m,
			jetstream.WithMsgID(id),
			jetstream.WithExpectStream(stream),
			jetstream.WithExpectLastSequencePerSubject(at))
		cancel()
		switch {
		case err == nil:
			return ack.Sequence, nil
		case overtaken(err):
			return 0, errOvertaken
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return 0, k.explain(err)
		}
		last = err // perhaps only the acknowledgement was lost
	}
	return 0, k.explain(fmt.Errorf("no acknowledgement: %w", last))
}

// each calls f for all items, inFlight at once. The first error ends it.
func each[T any](ctx context.Context, items []T, f func(ctx context.Context, i int, item T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var lanes sync.WaitGroup
	for range min(inFlight, len(items)) {
		lanes.Go(func() {
			for i := int(next.Add(1) - 1); i < len(items) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				if err := f(ctx, i, items[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	lanes.Wait()
	return context.Cause(ctx)
}
