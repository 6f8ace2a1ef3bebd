package kafkasink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
)

// Totals implements export.Reader. It reads the whole topic: whoever asks often
// keeps a rowstream.Fold. A sum that lacks rows is of no use, so with an error,
// which then is an *export.PartialError that names partitions, it returns no
// totals.
func (k *Sink) Totals(ctx context.Context, q export.Query) ([]export.CounterTotal, error) {
	f, err := k.fold(ctx, k.topic)
	if err != nil {
		return nil, err
	}
	return f.Totals(ctx, q)
}

// Uniques implements export.Reader, at the cost of Totals. A series whose
// writers hash in different ways has a total for each of them.
func (k *Sink) Uniques(ctx context.Context, q export.Query) ([]export.UniquesTotal, error) {
	f, err := k.fold(ctx, k.topic)
	if err != nil {
		return nil, err
	}
	return f.Uniques(ctx, q)
}

// Window implements export.Reader. It reads the whole topic of windows. With an
// error it returns no buckets.
func (k *Sink) Window(ctx context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]export.BucketTotal, error) {
	if k.windows == "" {
		return nil, fmt.Errorf("hotcount/kafkasink: %w: Options.Windows is empty", export.ErrSchema)
	}
	f, err := k.fold(ctx, k.windows)
	if err != nil {
		return nil, err
	}
	return f.Window(ctx, key, resolution, from, to)
}

func (k *Sink) fold(ctx context.Context, topic string) (*rowstream.Fold, error) {
	var f rowstream.Fold
	r, err := k.newReader(ctx, topic, func(_ *kgo.Record, m rowstream.Message) error { return f.Apply(m) })
	if err != nil {
		return nil, err
	}
	defer r.client.Close()
	// What a roll-up removes, it has named before in another partition. So the
	// second time the name is there of all that lacked the first time.
	for range 2 {
		if err := r.read(ctx); err != nil {
			return nil, err
		}
	}
	return &f, nil
}

// A reader reads a topic from its start. It waits for transactions that are open: one
// hides all that comes after it in its partition, of which other partitions may show
// what follows from it.
type reader struct {
	topic  string
	client *kgo.Client
	apply  func(*kgo.Record, rowstream.Message) error
	next   map[int32]int64 // offsets by partition
}

func (k *Sink) newReader(ctx context.Context, topic string, apply func(*kgo.Record, rowstream.Message) error) (*reader, error) {
	starts, err := kadm.NewClient(k.client).ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return nil, &export.PartialError{Missing: []string{topic}, Err: explain(err)}
	}
	if len(starts[topic]) == 0 {
		return nil, &export.PartialError{Missing: []string{topic}, Err: explain(kerr.UnknownTopicOrPartition)}
	}
	r := &reader{topic: topic, apply: apply, next: map[int32]int64{}}
	from := map[int32]kgo.Offset{}
	for p, o := range starts[topic] {
		r.next[p], from[p] = o.Offset, kgo.NewOffset().At(o.Offset)
	}
	r.client, err = kgo.NewClient(append(slices.Clip(k.client.Opts()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords())...) // so that the last offset is always seen
	if err != nil {
		return nil, fmt.Errorf("hotcount/kafkasink: %w", err)
	}
	return r, nil
}

// read applies all that is there now and has not been read.
func (r *reader) read(ctx context.Context) error {
	ends, err := kadm.NewClient(r.client).ListEndOffsets(ctx, r.topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return &export.PartialError{Missing: []string{r.topic}, Err: explain(err)}
	}
	for {
		missing := r.missing(ends)
		if len(missing) == 0 {
			return nil
		}
		fetches := r.client.PollFetches(ctx)
		err := fetches.Err()
		fetches.EachRecord(func(record *kgo.Record) {
			r.next[record.Partition] = record.Offset + 1
			if err == nil && !record.Attrs.IsControl() && record.Value != nil {
				err = r.one(record)
			}
		})
		if err != nil {
			return &export.PartialError{Missing: missing, Err: explain(err)}
		}
	}
}

// missing names the partitions that have not been read up to their ends.
func (r *reader) missing(ends kadm.ListedOffsets) (names []string) {
	for p, end := range ends[r.topic] {
		if r.next[p] < end.Offset {
			names = append(names, fmt.Sprintf("%s/%d", r.topic, p))
		}
	}
	slices.Sort(names)
	return names
}

func (r *reader) one(record *kgo.Record) error {
	m, err := rowstream.Decode(record.Value)
	if err == nil {
		err = r.apply(record, m)
	}
	if err != nil {
		return fmt.Errorf("%w: %w in %s/%d at %d", export.ErrForeign, err, record.Topic, record.Partition, record.Offset)
	}
	return nil
}
