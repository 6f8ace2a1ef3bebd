package natssink

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
)

// rights are those that the package comment tells.
const rights = `
authorization {
  users = [
    {user: owner, password: secret}
    {user: sink, password: secret, permissions: {
      publish: ["COUNTS.>", "$JS.API.STREAM.INFO.COUNTS", "$JS.API.STREAM.MSG.GET.COUNTS"]
      subscribe: ["_INBOX.>"]
    }}
    {user: reader, password: secret, permissions: {
      publish: ["$JS.API.STREAM.INFO.COUNTS", "$JS.API.STREAM.MSG.GET.COUNTS",
        "$JS.API.CONSUMER.*.COUNTS.>", "$JS.API.CONSUMER.MSG.NEXT.COUNTS.*"]
      subscribe: ["_INBOX.>"]
    }}
    {user: compactor, password: secret, permissions: {
      publish: ["COUNTS.>", "$JS.API.STREAM.INFO.COUNTS", "$JS.API.STREAM.MSG.GET.COUNTS",
        "$JS.API.CONSUMER.*.COUNTS.>", "$JS.API.CONSUMER.MSG.NEXT.COUNTS.*", "$JS.API.STREAM.PURGE.COUNTS"]
      subscribe: ["_INBOX.>"]
    }}
  ]
}`

func TestLeastPrivilege(t *testing.T) {
	s := servertest.NATS(t, rights)
	as := func(user string) jetstream.JetStream {
		nc, err := nats.Connect("nats://"+user+":secret@"+s.Addr(),
			nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		js, err := jetstream.New(nc)
		require.NoError(t, err)
		return js
	}
	create(t, as("owner"), StreamConfig("COUNTS"))
	k, r := open(t, as("sink"), "COUNTS"), open(t, as("reader"), "COUNTS")
	c := newCounting()
	x := key(t, "hits_total", "x")
	for range 2 {
		c.add(x, 2)
		require.NoError(t, k.Write(t.Context(), c.next()))
	}
	assert.EqualValues(t, 4, totals(t, r)[x.String()])

	done, err := open(t, as("compactor"), "COUNTS").Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, 1, done.Writers)
	assert.EqualValues(t, 4, totals(t, r)[x.String()])

	r.ackWait = 10 * time.Millisecond
	err = r.Write(t.Context(), newCounting().next())
	require.ErrorIs(t, err, export.ErrDenied, "a reader must not write")
}
