package natssink

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
)

// errOvertaken says that the last sequence of a subject is not the expected one.
var errOvertaken = errors.New("hotcount/natssink: overtaken")

// kindOf tells export's errors by the client's.
func kindOf(err error) error {
	if kind := sinkkit.KindOf(meanings)(err); kind != nil {
		return kind
	}
	var api *jetstream.APIError
	switch {
	case !errors.As(err, &api):
		return nil
	case api.ErrorCode == codeNoResources || strings.Contains(api.Description, "exceeded"):
		return export.ErrFull
	case api.Code == http.StatusServiceUnavailable:
		return export.ErrUnavailable
	}
	return nil
}

// codeNoResources is what a server says that has no room for a stream.
const codeNoResources jetstream.ErrorCode = 10023

var meanings = []sinkkit.Meaning{
	{Of: nats.ErrAuthorization, Kind: export.ErrDenied},
	{Of: nats.ErrAuthExpired, Kind: export.ErrDenied},
	{Of: nats.ErrAuthRevoked, Kind: export.ErrDenied},
	{Of: nats.ErrPermissionViolation, Kind: export.ErrDenied},
	{Of: jetstream.ErrJetStreamNotEnabledForAccount, Kind: export.ErrDenied},
	{Of: jetstream.ErrStreamNotFound, Kind: export.ErrSchema},
	{Of: jetstream.ErrStreamMessageExceedsMaximum, Kind: export.ErrTooLarge},
	{Of: nats.ErrMaxPayload, Kind: export.ErrTooLarge},
	{Of: jetstream.ErrNoStreamResponse, Kind: export.ErrUnavailable},
	{Of: nats.ErrNoServers, Kind: export.ErrUnavailable},
	{Of: nats.ErrNoResponders, Kind: export.ErrUnavailable},
	{Of: nats.ErrTimeout, Kind: export.ErrUnavailable},
	{Of: nats.ErrDisconnected, Kind: export.ErrUnavailable},
	{Of: nats.ErrConnectionClosed, Kind: export.ErrUnavailable},
	{Of: nats.ErrConnectionReconnecting, Kind: export.ErrUnavailable},
	{Of: nats.ErrStaleConnection, Kind: export.ErrUnavailable},
}

// explain says what an error of the client means for a caller.
func explain(err error) error { return sinkkit.Explain("hotcount/natssink", err, kindOf) }

// explain adds what the connection has to say, since who waits for an
// answer is told by the client only that none came.
func (k *Sink) explain(err error) error {
	nc := k.js.Conn()
	last := nc.LastError()
	switch {
	case last == nil:
	case nc.IsClosed(): // for good, as a login that is refused twice
		err = fmt.Errorf("%w: %w", err, last)
	case !errors.Is(err, context.DeadlineExceeded):
	case !nc.IsConnected():
		err = fmt.Errorf("not connected: %w: %w", err, last)
	case errors.Is(last, nats.ErrPermissionViolation):
		err = fmt.Errorf("%w: %w", err, last)
	}
	return explain(err)
}

// overtaken reports whether err is the server's refusal of a compare-and-set.
func overtaken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
