package natssink

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

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

// checkStream returns a message for a configuration under which the stream would
// lose rows, "" if there is none.
func checkStream(c *jetstream.StreamConfig) string {
	limited := c.MaxMsgs > 0 || c.MaxBytes > 0
	switch {
	case c.MaxMsgsPerSubject != 1:
		return fmt.Sprintf("MaxMsgsPerSubject is %d, want 1", c.MaxMsgsPerSubject)
	case c.DiscardNewPerSubject:
		return "DiscardNewPerSubject is set"
	case limited && c.Discard != jetstream.DiscardNew:
		return "MaxMsgs or MaxBytes is set, and Discard is not DiscardNew"
	case c.MaxAge != 0:
		return fmt.Sprintf("MaxAge is %v, want 0", c.MaxAge)
	case c.Retention != jetstream.LimitsPolicy:
		return fmt.Sprintf("Retention is %v, want limits", c.Retention)
	case c.NoAck:
		return "NoAck is set"
	}
	return ""
}

// open returns the stream after a look at its configuration, the first time.
func (k *Sink) open(ctx context.Context) (jetstream.Stream, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stream != nil {
		return k.stream, nil
	}
	s, err := k.js.Stream(ctx, k.name)
	if err != nil {
		return nil, typed(err)
	}
	if wrong := checkStream(&s.CachedInfo().Config); wrong != "" {
		return nil, snapshot.Terminal(fmt.Errorf("%w: stream %s: %s", ErrStream, k.name, wrong))
	}
	k.stream = s
	return s, nil
}

// Tokens that follow the stream's name in a subject.
const (
	counterToken = "counter"
	uniquesToken = "uniques"
	writerToken  = "writer"
)

// A rowID tells the rows of one writer apart.
type rowID struct {
	series  seriesHash
	created int64
	uniques bool
}

// seriesHash stands for a series in a subject, whose length is limited and in
// which not all characters are allowed. 128 bits of SHA-256 do not collide, not
// even for somebody who chooses the labels.
type seriesHash [16]byte

func hashSeries(k snapshot.Key) seriesHash {
	sum := sha256.Sum256(k.AppendText(nil))
	return seriesHash(sum[:])
}

// rowSubject returns the subject of a row:
//
//	STREAM.counter.NAME.SERIES.WRITER.CREATED
//
// A metric's name is a token as it is: letters, digits, _ and colons.
func (k *Sink) rowSubject(name string, w snapshot.WriterID, id rowID) string {
	kind := counterToken
	if id.uniques {
		kind = uniquesToken
	}
	return strings.Join([]string{
		k.name, kind, name,
		base64.RawURLEncoding.EncodeToString(id.series[:]),
		w.String(),
		strconv.FormatInt(id.created, 10),
	}, ".")
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
