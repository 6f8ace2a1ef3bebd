//go:build hotcount_stores

package sinks

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/snapshot/natssink"
)

// A natsStore is a natssink with the connection that belongs to it.
type natsStore struct {
	*natssink.Sink
	conn *nats.Conn
}

func (s *natsStore) Close() error { s.conn.Close(); return nil }

// defaultStream is the stream of an address that names none.
const defaultStream = "hotcount"

// openNATS takes what nats.Connect takes, and a stream as ?stream=, which it
// makes if need be.
func openNATS(ctx context.Context, address string) (Sink, error) {
	s, err := newNATS(ctx, address, true)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func readNATS(ctx context.Context, address string) (Reader, error) {
	s, err := newNATS(ctx, address, false)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newNATS(ctx context.Context, address string, create bool) (*natsStore, error) {
	address, stream, err := cutParameter(address, "stream")
	if err != nil {
		return nil, err
	}
	if stream == "" {
		stream = defaultStream
	}
	conn, err := nats.Connect(address)
	if err != nil {
		return nil, err
	}
	s, err := openStream(ctx, conn, stream, create)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &natsStore{s, conn}, nil
}

func openStream(ctx context.Context, conn *nats.Conn, stream string, create bool) (*natssink.Sink, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	if create {
		if _, err := js.CreateOrUpdateStream(ctx, natssink.StreamConfig(stream)); err != nil {
			return nil, err
		}
	}
	return natssink.New(natssink.Options{JetStream: js, Stream: stream})
}
