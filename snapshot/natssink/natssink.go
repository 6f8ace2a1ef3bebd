package natssink

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

// How it works. The stream keeps the last message of each subject. A writer has a
// subject for each slot, which is up to 32 of its rows, and one for its standing.
// Nothing on a stream spans two messages, so a flush is a protocol of single
// messages, each of them a compare-and-set on the subject's last sequence:
//
//	claim ──▶ slot, slot, slot, …, slot ──▶ commit        one flush
//	  │         any order, many at once       │
//	  ▼                                       ▼
//	pending                           seq, mark = this flush's
//	  └───────── the writer's standing ───────┘
//
// The claim and the commit fence clones: see sinkkit.Mirror. What fences a slot is
// its own sequence. A late message expects a sequence that the subject has left
// behind, so the server refuses it; a repeated one has the message id of the
// first, so the server answers what it answered then. Whoever is refused reads the
// slot that is there and goes by the Seq of each row.
//
// A row holds its value in the flush and, as Prior, the one in the last flush that
// ended. Readers choose by the standing, so a flush counts all at once, and a
// roll-up finds what a writer had when it last was whole: see compact.go.
//
// A flush that breaks off leaves slots that need not be sent again. The next one
// trusts them if the standing is still its own claim and the newest slot that was
// acknowledged is still the last on its subject. A stream that went back to an
// older state has lost its end, so that one first.
//
// Invariants: a row's Seq grows, but for a stream that went back to an older
// state. The rows under a writer id are those of one process: one that has not
// claimed the id publishes nothing, and one that lost it had no flush under way,
// or one of the very same rows.
//
// Rejected, all measured: a message for each row (publishing takes 30 times as long, with a larger
// window and without message ids still 20 times); several hundred rows a message
// (three times faster again, but a row that changes alone takes them all along);
// plain publishing with message ids alone (a message that is late by more than the
// window overwrites a newer one); a carry in the row, as other sinks have (Created
// tells rows apart without); JetStream's key-value layer (its keys would be ours
// and its headers in the way). Not there before NATS 2.12: an atomic batch.

// Options say which stream a Sink uses. JetStream and Stream are required.
type Options struct {
	// JetStream is the caller's, as is the connection below. Its retries are
	// harmless.
	JetStream jetstream.JetStream

	// Stream is the stream's name, and the first part of each subject. See
	// StreamConfig.
	Stream string

	// Windows is the name of another stream, for the buckets of windows, see
	// WindowsConfig. Without one they are not published.
	Windows string

	// AckWait is for how long an answer of the server is waited for. A
	// message that is not acknowledged by then is sent again, twice at
	// most. 0 means 2 s.
	AckWait time.Duration
}

const defaultAckWait = 2 * time.Second

// A Sink publishes the counts of a fleet to a JetStream stream and reads them
// back. Totals, Uniques and Follow are safe for concurrent use, with Write too;
// Writes come one at a time.
type Sink struct {
	js      jetstream.JetStream
	name    string
	windows string
	ackWait time.Duration
	goneFor time.Duration

	mu      sync.Mutex
	streams map[string]jetstream.Stream // that have been looked at

	sources map[snapshot.WriterID]*source // of Write
}

var _ interface {
	export.Sink
	export.Reader
} = (*Sink)(nil)

// New returns a Sink. It does not ask the server anything.
func New(o Options) (*Sink, error) {
	switch {
	case o.JetStream == nil:
		return nil, errors.New("hotcount/natssink: Options.JetStream is nil")
	case o.Stream == "" || strings.ContainsFunc(o.Stream, notInToken):
		return nil, fmt.Errorf("hotcount/natssink: Options.Stream %q is not made of letters, digits, _ and -", o.Stream)
	case strings.ContainsFunc(o.Windows, notInToken) || o.Windows == o.Stream:
		return nil, fmt.Errorf("hotcount/natssink: Options.Windows %q is not made of letters, digits, _ and -, or is Options.Stream", o.Windows)
	case o.AckWait < 0:
		return nil, fmt.Errorf("hotcount/natssink: Options.AckWait %v is negative", o.AckWait)
	}
	return &Sink{
		js:      o.JetStream,
		name:    o.Stream,
		windows: o.Windows,
		streams: make(map[string]jetstream.Stream),
		ackWait: cmp.Or(o.AckWait, defaultAckWait),
		goneFor: goneFor,
		sources: make(map[snapshot.WriterID]*source),
	}, nil
}

func notInToken(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
}

// String names the sink in logs: "nats" and the stream.
func (k *Sink) String() string { return "nats " + k.name }
