//go:build hotcount_stores

package sinks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/internal/servertest"
)

func TestNATS(t *testing.T) {
	server := servertest.NATSAddr(t)
	stream := fmt.Sprintf("sinks-test-%x", rand.Uint64())
	conn, err := nats.Connect("nats://" + server)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	defer func() { assert.NoError(t, js.DeleteStream(context.Background(), stream)) }()
	goesRound(t, "nats://"+server+"?stream="+stream)
}
