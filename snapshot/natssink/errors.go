package natssink

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/snapshot/internal/sinkerr"
)

var (
	// ErrDenied is wrapped when the server does not let the client in, or has
	// no JetStream for it. From Write it is terminal, see export.IsTerminal,
	// but for a subject to which the user may not publish: that shows when no
	// acknowledgement came, and the connection has been refused a subject,
	// if not surely this one.
	ErrDenied = errors.New("hotcount/natssink: access denied")

	// ErrStream is wrapped when there is no such stream, or one that would
	// lose rows. In the latter case it is terminal.
	ErrStream = errors.New("hotcount/natssink: no such stream")

	// ErrTooLarge is wrapped when a row, with its sketch, is larger than the
	// stream or the server takes. From Write it is terminal.
	ErrTooLarge = errors.New("hotcount/natssink: the row is too large")

	// ErrInterrupted is wrapped when another process flushed under the same
	// writer id at the same time. The next Write finds out which of them
	// goes on under a new one.
	ErrInterrupted = errors.New("hotcount/natssink: another flush came between")

	// ErrForeign is wrapped when a message on a subject of the stream is not
	// one that a Sink publishes.
	ErrForeign = errors.New("hotcount/natssink: a message is not the sink's")
)

// errOvertaken says that the last sequence of a subject is not the expected one.
var errOvertaken = errors.New("hotcount/natssink: overtaken")

// kinds tells the sink's errors by the client's.
var kinds = []sinkerr.Kind{
	{Of: nats.ErrAuthorization, Means: ErrDenied, Terminal: true},
	{Of: nats.ErrAuthExpired, Means: ErrDenied, Terminal: true},
	{Of: nats.ErrAuthRevoked, Means: ErrDenied, Terminal: true},
	{Of: nats.ErrPermissionViolation, Means: ErrDenied, Terminal: true},
	{Of: jetstream.ErrJetStreamNotEnabledForAccount, Means: ErrDenied, Terminal: true},
	{Of: jetstream.ErrStreamNotFound, Means: ErrStream},
	{Of: jetstream.ErrNoStreamResponse, Means: ErrStream},
	{Of: jetstream.ErrStreamMessageExceedsMaximum, Means: ErrTooLarge, Terminal: true},
	{Of: nats.ErrMaxPayload, Means: ErrTooLarge, Terminal: true},
}

// typed wraps an error of the client in the sink's own.
func typed(err error) error { return sinkerr.Typed("hotcount/natssink", kinds, err) }

// typed does that, and adds what the connection has to say, since who waits for an
// answer is told by the client only that none came.
func (k *Sink) typed(err error) error {
	nc := k.js.Conn()
	last := nc.LastError()
	switch {
	case last == nil:
	case nc.IsClosed(): // for good, as a login that is refused twice
		err = fmt.Errorf("%w: %w", err, last)
	case !errors.Is(err, context.DeadlineExceeded):
	case !nc.IsConnected():
		return fmt.Errorf("hotcount/natssink: not connected: %w: %w", err, last)
	case errors.Is(last, nats.ErrPermissionViolation):
		return fmt.Errorf("%w: %w: %w", ErrDenied, err, last)
	}
	return typed(err)
}

// overtaken reports whether err is the server's refusal of a compare-and-set.
func overtaken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
