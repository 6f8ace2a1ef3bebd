package kafkasink

import (
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// How it works. A flush is one transaction: the rows that have changed, as records,
// and the writer's standing, twice. As a record it is what readers and roll-ups go
// by; as the committed offset of a consumer group of the writer's own it is what a
// process asks for, since a topic cannot be asked for one record.
//
//	init ──▶ fetch offset ──▶ begin ──▶ row, row, …, standing, offset ──▶ end
//	  │                         └──────────────── a flush ───────────────┘
//	fences all others with the same transactional id, which is made of the
//	writer's, and aborts what they left
//
// So between init and end nobody else has flushed under the writer's id, and what
// the offset said then still holds. A process that has been fenced fails at end,
// starts over with init, and finds in the offset what the other one did: see
// sinkkit.Mirror. A flush that fails in whatever way drops its client, so that the
// next begins with init and nothing of it can arrive late.
//
// A transaction ends in each partition at its own time. A reader that sees it in
// some only has some rows of a writer that are newer than others, and no more than
// that: whatever must not be seen by halves, a roll-up does by one record, in
// compact.go.

// Options say where a Sink publishes. Client and Topic are required.
type Options struct {
	// Client is the caller's, who closes it. It must produce idempotently
	// and consume nothing. The sink makes clients of its own with the same
	// options, which Close closes.
	Client *kgo.Client

	// Topic is compacted, see the package comment.
	Topic string

	// Windows is another topic, for the buckets of windows, see the package
	// comment. Without one they are not published.
	Windows string
}

// A Sink publishes the counts of a fleet to a Kafka topic and reads them back.
// Totals, Uniques, Window and Compact are safe for concurrent use, with Write too;
// Writes come one at a time.
type Sink struct {
	client  *kgo.Client
	topic   string
	windows string
	goneFor time.Duration

	sources map[snapshot.WriterID]*source
}

var _ interface {
	export.Sink
	export.Reader
} = (*Sink)(nil)

// New returns a Sink. It does not connect.
func New(o Options) (*Sink, error) {
	switch {
	case o.Client == nil:
		return nil, errors.New("hotcount/kafkasink: Options.Client is nil")
	case o.Topic == "":
		return nil, errors.New("hotcount/kafkasink: Options.Topic is empty")
	case o.Windows == o.Topic:
		return nil, errors.New("hotcount/kafkasink: Options.Windows is Options.Topic")
	case o.Client.OptValue(kgo.DisableIdempotentWrite) == true:
		return nil, errors.New("hotcount/kafkasink: Options.Client does not produce idempotently")
	case consumes(o.Client):
		return nil, errors.New("hotcount/kafkasink: Options.Client consumes")
	}
	return &Sink{
		client:  o.Client,
		topic:   o.Topic,
		windows: o.Windows,
		goneFor: goneFor,
		sources: make(map[snapshot.WriterID]*source),
	}, nil
}

func consumes(c *kgo.Client) bool {
	topics, _ := c.OptValue(kgo.ConsumeTopics).([]string)
	partitions, _ := c.OptValue(kgo.ConsumePartitions).(map[string]map[int32]kgo.Offset)
	return len(topics)+len(partitions) > 0 || c.OptValue(kgo.ConsumerGroup) != ""
}

// String names the sink in logs: "kafka" and the topic.
func (k *Sink) String() string { return "kafka " + k.topic }

// Close closes the clients that Write has made. Write may be called again. Close
// must not be called while Write runs.
func (k *Sink) Close() error {
	for _, src := range k.sources {
		src.drop()
	}
	return nil
}

// transactional returns a client for the transactions of one id.
func (k *Sink) transactional(id string) (*kgo.Client, error) {
	return kgo.NewClient(append(slices.Clip(k.client.Opts()), kgo.TransactionalID(id))...)
}

// writerID is the transactional id and the consumer group of a writer.
func (k *Sink) writerID(w snapshot.WriterID) string { return "hotcount." + k.topic + "." + w.String() }

// meanings tells export's errors by the client's.
var meanings = []sinkkit.Meaning{
	{Of: kerr.TopicAuthorizationFailed, Kind: export.ErrDenied},
	{Of: kerr.ClusterAuthorizationFailed, Kind: export.ErrDenied},
	{Of: kerr.SaslAuthenticationFailed, Kind: export.ErrDenied},
	{Of: kerr.GroupAuthorizationFailed, Kind: export.ErrDenied},
	{Of: kerr.TransactionalIDAuthorizationFailed, Kind: export.ErrDenied},
	{Of: kerr.UnknownTopicOrPartition, Kind: export.ErrSchema},
	{Of: kerr.MessageTooLarge, Kind: export.ErrTooLarge},
	{Of: kerr.RecordListTooLarge, Kind: export.ErrTooLarge},
	{Of: kerr.InvalidProducerEpoch, Kind: export.ErrInterrupted},
	{Of: kerr.ProducerFenced, Kind: export.ErrInterrupted},
	{Of: kerr.ConcurrentTransactions, Kind: export.ErrInterrupted},
	{Of: kgo.ErrRecordTimeout, Kind: export.ErrUnavailable},
	{Of: kgo.ErrRecordRetries, Kind: export.ErrUnavailable},
}

func kindOf(err error) error {
	kind := sinkkit.KindOf(meanings)(err)
	if kind == nil && kerr.IsRetriable(err) {
		kind = export.ErrUnavailable
	}
	return kind
}

// explain says what an error of the client means for a caller.
func explain(err error) error { return sinkkit.Explain("hotcount/kafkasink", err, kindOf) }

// interrupted reports whether err says that another one has the transactional id.
func interrupted(err error) bool {
	return errors.Is(err, kerr.InvalidProducerEpoch) || errors.Is(err, kerr.ProducerFenced) ||
		errors.Is(err, kerr.ConcurrentTransactions)
}
