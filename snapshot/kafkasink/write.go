package kafkasink

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

// maxAsks is how often one Write starts anew under a new id before it leaves it to
// the next. Twice is enough unless others interfere.
const maxAsks = 8

// A source is a writer whose snapshots come to the sink.
type source struct {
	mirror   sinkkit.Mirror
	buckets  sinkkit.BucketMirror
	client   *kgo.Client      // that has the right to flush, nil if none has
	standing sinkkit.Standing // as that client has left it
}

func (src *source) drop() {
	if src.client != nil {
		src.client.Close()
		src.client = nil
	}
}

// Write implements export.Sink. It sends a record for each row that has changed
// in one transaction. What one has begun that did not end within ctx is undone.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	src := k.sources[s.Writer]
	if src == nil {
		src = &source{}
		k.sources[s.Writer] = src
	}
	for _, other := range k.sources {
		if other != src {
			other.drop() // a client is kept for one writer, which is the process's own most of the time
		}
	}
	m := &src.mirror
	m.Follow(s)
	for range maxAsks {
		if err := k.acquire(ctx, src); err != nil {
			src.drop()
			return explain(err)
		}
		switch step, err := m.Settle(src.standing); {
		case err != nil || step == sinkkit.Done:
			src.drop() // nothing more comes of it, or it is asked for again
			return err
		case step == sinkkit.Ask:
			src.drop()
			continue
		}
		st := sinkkit.Standing{Seq: s.Seq}
		if err := k.flush(ctx, src, s, &st); err != nil {
			src.drop()
			return explain(err)
		}
		src.standing = st
		m.Hold(s)
		return nil
	}
	return fmt.Errorf("hotcount/kafkasink: %w: writer %v", export.ErrInterrupted, m.Writer())
}

// acquire gets the right to flush under the writer's id, and learns its standing.
func (k *Sink) acquire(ctx context.Context, src *source) (err error) {
	if src.client != nil {
		return nil
	}
	w := src.mirror.Writer()
	if src.client, err = k.transactional(k.writerID(w)); err != nil {
		return err
	}
	if _, _, err = src.client.ProducerID(ctx); err != nil {
		return err
	}
	src.standing, err = k.standing(ctx, w)
	return err
}

// flush sends what the topics do not hold of s, and st with the flush's mark.
func (k *Sink) flush(ctx context.Context, src *source, s *snapshot.Snapshot, st *sinkkit.Standing) error {
	if err := src.client.BeginTransaction(); err != nil {
		return err
	}
	f := newFlight(ctx, src.client)
	k.sendRows(f, src, s)
	st.Mark = src.mirror.Mark()
	f.sendStanding(k.topic, rowstream.Standing{Writer: src.mirror.Writer(), Standing: *st})
	if err := f.wait(); err != nil {
		return err
	}
	if err := k.commitStanding(ctx, src.client, src.mirror.Writer(), *st); err != nil {
		return err
	}
	return src.client.EndTransaction(ctx, kgo.TryCommit)
}

// sendRows sends what the mirrors pick of s. A row of a flush that has not ended is
// not shown to readers, so all of it counts.
func (k *Sink) sendRows(f *flight, src *source, s *snapshot.Snapshot) {
	m := &src.mirror
	row := func(key series.Key, created, value int64) rowstream.Row {
		return rowstream.Row{Key: key, Writer: m.Writer(), Created: created, Seq: s.Seq, Value: value, Prior: value}
	}
	counters, sketches := m.Pick(s)
	for _, c := range counters {
		f.sendRow(k.topic, row(c.Key, c.Created, c.Value))
	}
	for _, u := range sketches {
		r := row(u.Key, u.Created, 0)
		r.Scheme, r.Sketch = u.Scheme, u.Sketch
		f.sendRow(k.topic, r)
	}
	if k.windows == "" {
		return
	}
	for _, b := range src.buckets.Pick(m, s) {
		r := row(b.Key, b.Start, b.Count)
		r.Resolution = b.Resolution
		f.sendRow(k.windows, r)
	}
}
