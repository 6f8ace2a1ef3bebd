package kafkasink

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// deadWord follows the mark in the metadata of a writer that is dead.
const deadWord = " dead"

// standing returns a writer's standing, which is zero if there is none. Only who
// has the writer's transactional id gets one that stays.
func (k *Sink) standing(ctx context.Context, w snapshot.WriterID) (st sinkkit.Standing, err error) {
	offsets, err := kadm.NewClient(k.client).FetchOffsets(kadm.RequireStable(ctx), k.writerID(w))
	if errors.Is(err, kerr.GroupIDNotFound) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	o, ok := offsets.Lookup(k.topic, 0)
	switch {
	case !ok || o.Err == nil && o.At < 0:
		return st, nil
	case o.Err != nil:
		return st, o.Err
	}
	st, err = parseStanding(o.At, o.Metadata)
	return st, err
}

func formatStanding(st sinkkit.Standing) (offset int64, metadata string) {
	metadata = hex.EncodeToString(st.Mark[:])
	if st.Dead {
		metadata += deadWord
	}
	return int64(st.Seq), metadata
}

func parseStanding(offset int64, metadata string) (sinkkit.Standing, error) {
	digits, dead := strings.CutSuffix(metadata, deadWord)
	mark, err := hex.DecodeString(digits)
	st := sinkkit.Standing{Seq: uint64(offset), Dead: dead}
	if err != nil || copy(st.Mark[:], mark) != len(st.Mark) || len(mark) != len(st.Mark) {
		return sinkkit.Standing{}, fmt.Errorf("%w: a writer's offset has the metadata %.100q", export.ErrForeign, metadata)
	}
	return st, nil
}

// commitStanding makes st a part of the transaction under way.
func (k *Sink) commitStanding(ctx context.Context, c *kgo.Client, w snapshot.WriterID, st sinkkit.Standing) error {
	id, epoch, err := c.ProducerID(ctx)
	if err != nil {
		return err
	}
	return k.addStanding(ctx, w, st, id, epoch)
}

func (k *Sink) addStanding(ctx context.Context, w snapshot.WriterID, st sinkkit.Standing, id int64, epoch int16) error {
	add := kmsg.NewAddOffsetsToTxnRequest()
	add.TransactionalID, add.Group = k.writerID(w), k.writerID(w)
	add.ProducerID, add.ProducerEpoch = id, epoch
	added, err := add.RequestWith(ctx, k.client)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		return err
	}
	offset, metadata := formatStanding(st)
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Offset, part.Metadata = offset, &metadata
	topics, err := kadm.NewClient(k.client).ListTopics(ctx, k.topic)
	if err == nil {
		err = topics.Error()
	}
	if err != nil {
		return err
	}
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = k.topic, topics[k.topic].ID // brokers go by one or the other
	topic.Partitions = append(topic.Partitions, part)
	commit := kmsg.NewTxnOffsetCommitRequest()
	commit.TransactionalID, commit.Group = add.TransactionalID, add.Group
	commit.ProducerID, commit.ProducerEpoch = id, epoch
	commit.Topics = append(commit.Topics, topic)
	committed, err := commit.RequestWith(ctx, k.client)
	if err != nil {
		return err
	}
	for _, t := range committed.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

// freeze makes a writer dead, and reports whether it could: not if the writer
// flushes meanwhile. Dead or not, whoever flushed under the id has to start over.
func (k *Sink) freeze(ctx context.Context, w snapshot.WriterID) (sinkkit.Standing, bool, error) {
	txn := k.writerID(w)
	init := kmsg.NewInitProducerIDRequest()
	init.TransactionalID, init.TransactionTimeoutMillis = &txn, freezeTimeout
	got, err := init.RequestWith(ctx, k.client)
	if err == nil {
		err = kerr.ErrorForCode(got.ErrorCode)
	}
	if err != nil {
		return sinkkit.Standing{}, false, err
	}
	st, err := k.standing(ctx, w)
	if err != nil || st.Dead {
		return st, st.Dead, err
	}
	st.Dead = true
	if err := k.addStanding(ctx, w, st, got.ProducerID, got.ProducerEpoch); err != nil {
		return st, false, unlessFenced(err)
	}
	end := kmsg.NewEndTxnRequest()
	end.TransactionalID, end.Commit = txn, true
	end.ProducerID, end.ProducerEpoch = got.ProducerID, got.ProducerEpoch
	ended, err := end.RequestWith(ctx, k.client)
	if err == nil {
		err = kerr.ErrorForCode(ended.ErrorCode)
	}
	return st, err == nil, unlessFenced(err)
}

// freezeTimeout is for how long the transaction of one who stopped while freezing
// a writer stays open: milliseconds.
const freezeTimeout = 2_000

// unlessFenced returns err unless it says that another one uses the id.
func unlessFenced(err error) error {
	if interrupted(err) {
		return nil
	}
	return err
}
