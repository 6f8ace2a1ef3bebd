package kafkasink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/internal/rollup"
)

// How a roll-up works. The sums are rows of the zero writer. Whoever has the
// transactional id of roll-ups makes them, and fences who had it before.
//
//	freeze ──▶ sum, sum, …, sum ──▶ commit ──▶ bury ──▶ clear
//	  │               │                │         │         │
//	Dead in each  the next Seq,     the sums'   rows are  Folded is
//	writer's      Prior counts      Seq, and    removed,  empty
//	offset                          Folded      Gone
//
// Each step but the first is a transaction of its own, which begins when the one
// before has ended in all partitions. The commit is one record: with it the new
// sums count and the rows of the writers that it names do not. If it does not come,
// the next roll-up makes the sums anew, under a later Seq; if it came last, the
// next one buries and clears.

const (
	// perRound bounds the record that commits to 64 KB.
	perRound = 4000

	// goneFor is for how long a standing outlives its writer's rows, for those
	// who read the topic while it is rolled up, and seven days is how long
	// brokers keep the offset of a group that does nothing.
	goneFor = 7 * 24 * time.Hour

	// freezers is how many writers are frozen at once.
	freezers = 16
)

// Compacted is what a Compact did.
type Compacted struct {
	Writers int // that have been added up now
	Rows    int // of theirs that the sums have taken up
}

// A head is the last record with a writer's standing.
type head struct {
	rowstream.Standing
	when time.Time
}

// Compact adds up the rows of writers that have not flushed for a lease, by the
// broker's clock, and removes them. A process that was only late goes on under a
// new id. Any number of processes may call Compact at any time, and it may break
// off anywhere; of two at once one ends with ErrInterrupted. It reads the topic
// twice.
//
// The lease is much longer than the time between flushes; an hour is a good one.
// The topic's message.timestamp.type must be LogAppendTime, else the error is
// terminal and wraps ErrTopic: Compact does not compare clocks of processes.
func (k *Sink) Compact(ctx context.Context, lease time.Duration) (Compacted, error) {
	if lease <= 0 {
		return Compacted{}, fmt.Errorf("hotcount/kafkasink: a lease of %v", lease)
	}
	if err := k.checkClock(ctx); err != nil {
		return Compacted{}, err
	}
	client, err := k.transactional("hotcount." + k.topic + ".compact")
	if err != nil {
		return Compacted{}, fmt.Errorf("hotcount/kafkasink: %w", err)
	}
	defer client.Close()
	if _, _, err := client.ProducerID(ctx); err != nil {
		return Compacted{}, explain(err)
	}
	c := &compaction{k: k, client: client}
	done, err := c.run(ctx, lease)
	var partial *export.PartialError
	if err != nil && !errors.As(err, &partial) {
		err = explain(err)
	}
	return done, err
}

// A compaction is one Compact.
type compaction struct {
	k      *Sink
	client *kgo.Client
	base   rowstream.Standing
}

func (c *compaction) run(ctx context.Context, lease time.Duration) (all Compacted, err error) {
	heads := make(map[snapshot.WriterID]head)
	r, err := c.heads(ctx, heads)
	if err != nil {
		return all, err
	}
	defer r.client.Close()
	if err := r.read(ctx); err != nil {
		return all, err
	}
	c.base = heads[snapshot.WriterID{}].Standing
	if len(c.base.Folded) > 0 {
		if err := c.finish(ctx); err != nil {
			return all, err
		}
	}
	if err := c.clear(ctx); err != nil {
		return all, err
	}
	if err := r.read(ctx); err != nil {
		return all, err
	}
	now := heads[snapshot.WriterID{}].when // that of the record just sent
	var dead, old []snapshot.WriterID
	for w, h := range heads {
		switch age := now.Sub(h.when); {
		case w.IsZero():
		case h.Gone && age > c.k.goneFor:
			old = append(old, w)
		case !h.Gone && age > lease:
			dead = append(dead, w)
		}
	}
	if err := c.forget(ctx, old); err != nil {
		return all, err
	}
	slices.SortFunc(dead, snapshot.WriterID.Compare)
	for some := range slices.Chunk(dead, perRound) {
		one, err := c.round(ctx, some)
		all.Writers += one.Writers
		all.Rows += one.Rows
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// heads returns a reader of the standings of all writers.
func (c *compaction) heads(ctx context.Context, heads map[snapshot.WriterID]head) (*reader, error) {
	return c.k.newReader(ctx, c.k.topic, func(record *kgo.Record, m rowstream.Message) error {
		if m.Standing == nil {
			return nil
		}
		heads[m.Standing.Writer] = head{*m.Standing, record.Timestamp}
		return nil
	})
}

// checkClock returns an error unless the broker dates the records.
func (k *Sink) checkClock(ctx context.Context) error {
	configs, err := kadm.NewClient(k.client).DescribeTopicConfigs(ctx, k.topic)
	if err != nil {
		return explain(err)
	}
	topic, err := configs.On(k.topic, nil)
	if err == nil {
		err = topic.Err
	}
	if err != nil {
		return explain(err)
	}
	for _, c := range topic.Configs {
		if c.Key == "message.timestamp.type" && c.MaybeValue() == "LogAppendTime" {
			return nil
		}
	}
	return fmt.Errorf("hotcount/kafkasink: %w: message.timestamp.type of %s is not LogAppendTime", export.ErrSchema, k.topic)
}

// transact sends records in a transaction. One that fails is undone if it can be, so
// that nobody has to wait for it to time out.
func (c *compaction) transact(ctx context.Context, send func(*flight)) (err error) {
	if err := c.client.BeginTransaction(); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWait)
		defer cancel()
		if c.client.AbortBufferedRecords(ctx) == nil {
			c.client.EndTransaction(ctx, kgo.TryAbort)
		}
	}()
	f := newFlight(ctx, c.client)
	send(f)
	if err := f.wait(); err != nil {
		return err
	}
	return c.client.EndTransaction(ctx, kgo.TryCommit)
}

// undoWait is for how long a transaction that failed is tried to be undone.
const undoWait = 100 * time.Millisecond

// round adds up some writers.
func (c *compaction) round(ctx context.Context, dead []snapshot.WriterID) (Compacted, error) {
	frozen, err := c.freeze(ctx, dead)
	if err != nil || len(frozen) == 0 {
		return Compacted{}, err
	}
	base := c.base
	base.Folded = frozen
	sum, keys, err := c.read(ctx, &base)
	if err != nil {
		return Compacted{}, err
	}
	rows, seq, err := sum.Next(true)
	if err != nil {
		return Compacted{}, err
	}
	if err := c.transact(ctx, func(f *flight) {
		for _, r := range rows {
			f.sendRow(c.k.topic, r)
		}
	}); err != nil {
		return Compacted{}, err
	}
	base.Seq, base.Mark = seq, sinkkit.NewMark()
	if err := c.transact(ctx, func(f *flight) { f.sendStanding(c.k.topic, base) }); err != nil {
		return Compacted{}, err
	}
	c.base = base
	done := Compacted{Writers: len(frozen), Rows: sum.Rows}
	if err := c.bury(ctx, keys); err != nil {
		return done, err
	}
	return done, c.clear(ctx)
}

// freeze makes writers dead, and returns those that are.
func (c *compaction) freeze(ctx context.Context, dead []snapshot.WriterID) (frozen []snapshot.WriterID, err error) {
	var mu sync.Mutex
	var lanes sync.WaitGroup
	for part := range slices.Chunk(dead, (len(dead)+freezers-1)/freezers) {
		lanes.Go(func() {
			for _, w := range part {
				_, ok, fail := c.k.freeze(ctx, w)
				mu.Lock()
				if err == nil {
					err = fail
				}
				if ok {
					frozen = append(frozen, w)
				}
				stop := err != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	lanes.Wait()
	return frozen, err
}

// read returns what the rows of the writers in base.Folded and the sums are, and
// the keys of the former.
func (c *compaction) read(ctx context.Context, base *rowstream.Standing) (*rollup.Sum, [][]byte, error) {
	sum := rollup.New(base)
	seen := make(map[string]bool)
	var keys [][]byte
	r, err := c.k.newReader(ctx, c.k.topic, func(record *kgo.Record, m rowstream.Message) error {
		if len(m.Rows) > 0 && sum.Has(m.Rows[0].Writer) && !seen[string(record.Key)] {
			seen[string(record.Key)] = true
			keys = append(keys, record.Key)
		}
		return sum.Apply(m)
	})
	if err != nil {
		return nil, nil, err
	}
	defer r.client.Close()
	return sum, keys, r.read(ctx)
}

// finish buries those whom an earlier Compact added up.
func (c *compaction) finish(ctx context.Context) error {
	_, keys, err := c.read(ctx, &c.base)
	if err != nil {
		return err
	}
	return c.bury(ctx, keys)
}

// bury removes the rows of the writers in base.Folded, which do not count any more.
func (c *compaction) bury(ctx context.Context, keys [][]byte) error {
	return c.transact(ctx, func(f *flight) {
		for _, key := range keys {
			f.send(&kgo.Record{Topic: c.k.topic, Key: key}, nil)
		}
		for _, w := range c.base.Folded {
			st := rowstream.Standing{Writer: w, Gone: true, Standing: sinkkit.Standing{Dead: true}}
			f.sendStanding(c.k.topic, st)
		}
	})
}

// clear removes the names of those that have been buried.
func (c *compaction) clear(ctx context.Context) error {
	c.base.Folded = nil
	return c.transact(ctx, func(f *flight) { f.sendStanding(c.k.topic, c.base) })
}

// forget removes standings of writers that have been gone for long.
func (c *compaction) forget(ctx context.Context, old []snapshot.WriterID) error {
	if len(old) == 0 {
		return nil
	}
	return c.transact(ctx, func(f *flight) {
		for _, w := range old {
			st := rowstream.Standing{Writer: w}
			f.send(&kgo.Record{Topic: c.k.topic, Key: st.AppendID(nil)}, nil)
		}
	})
}
