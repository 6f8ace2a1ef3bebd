package natssink

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

// StreamConfig returns the configuration of a stream for a Sink, to be created
// with jetstream.JetStream's CreateOrUpdateStream. Replicas, Storage, Placement,
// Description and limits of size are the caller's to change; what Write relies on
// it checks.
func StreamConfig(name string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              name,
		Subjects:          []string{name + ".>"},
		MaxMsgsPerSubject: 1,
		Discard:           jetstream.DiscardNew, // a full stream refuses, and does not lose
		Storage:           jetstream.FileStorage,
	}
}

// WindowsConfig does the same for a stream of windows' buckets, which the server
// keeps for as long as retention says.
func WindowsConfig(name string, retention time.Duration) jetstream.StreamConfig {
	c := StreamConfig(name)
	c.MaxAge = retention
	return c
}

// checkStream returns a message for a configuration under which the stream would
// lose rows, "" if there is none. Only buckets may go by age.
func checkStream(c *jetstream.StreamConfig, windows bool) string {
	limited := c.MaxMsgs > 0 || c.MaxBytes > 0
	switch {
	case c.MaxMsgsPerSubject != 1:
		return fmt.Sprintf("MaxMsgsPerSubject is %d, want 1", c.MaxMsgsPerSubject)
	case c.DiscardNewPerSubject:
		return "DiscardNewPerSubject is set"
	case limited && c.Discard != jetstream.DiscardNew:
		return "MaxMsgs or MaxBytes is set, and Discard is not DiscardNew"
	case c.MaxAge != 0 && !windows:
		return fmt.Sprintf("MaxAge is %v, want 0", c.MaxAge)
	case c.MaxAge == 0 && windows:
		return "MaxAge is 0, so that buckets would stay for ever"
	case c.Retention != jetstream.LimitsPolicy:
		return fmt.Sprintf("Retention is %v, want limits", c.Retention)
	case c.NoAck:
		return "NoAck is set"
	}
	return ""
}

// open returns a stream after a look at its configuration, the first time.
func (k *Sink) open(ctx context.Context, name string) (jetstream.Stream, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.streams[name]; s != nil {
		return s, nil
	}
	s, err := k.js.Stream(ctx, name)
	if err != nil {
		return nil, k.explain(err)
	}
	if wrong := checkStream(&s.CachedInfo().Config, name == k.windows); wrong != "" {
		return nil, fmt.Errorf("hotcount/natssink: %w: stream %s: %s", export.ErrSchema, name, wrong)
	}
	k.streams[name] = s
	return s, nil
}

// Tokens that follow the stream's name in a subject.
const (
	counterToken = "counter"
	uniquesToken = "uniques"
	writerToken  = "writer"
)

// slotSubject returns the subject of some rows of one writer: those of a kind and
// of a metric, whose name is a token as it is: letters, digits, _ and colons.
//
//	STREAM.counter.NAME.WRITER.SLOT
func (k *Sink) slotSubject(kind, name string, w snapshot.WriterID, slot int) string {
	return strings.Join([]string{k.name, kind, name, w.String(), strconv.Itoa(slot)}, ".")
}

// bucketSubject does the same for buckets of one resolution and start.
//
//	WINDOWS.NAME.RESOLUTION.START.WRITER.SLOT
func (k *Sink) bucketSubject(name string, c cell, w snapshot.WriterID, slot int) string {
	return strings.Join([]string{k.windows, name, strconv.FormatInt(int64(c.resolution), 10),
		strconv.FormatInt(c.start, 10), w.String(), strconv.Itoa(slot)}, ".")
}

func (k *Sink) writerSubject(w snapshot.WriterID) string {
	return k.name + "." + writerToken + "." + w.String()
}

// filter returns a subject for all rows of a kind that a prefix of series may
// select: those of one name, if the prefix tells it.
func (k *Sink) filter(kind, prefix string) string {
	if name, _, whole := strings.Cut(prefix, "{"); whole && !strings.ContainsFunc(name, notInName) {
		return k.name + "." + kind + "." + name + ".>"
	}
	return k.name + "." + kind + ".>"
}

func notInName(r rune) bool { return r != ':' && (r == '-' || notInToken(r)) }
