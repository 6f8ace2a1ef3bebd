package natssink

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/internal/servertest"
)

var errStopped = errors.New("the process has been stopped")

// stopping is a connection that sends no more messages after some: that of a
// process that dies, or whose time is up.
type stopping struct {
	jetstream.JetStream
	left atomic.Int64
	sent atomic.Int64
	stop func()
}

func (s *stopping) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if s.left.Add(-1) < 0 {
		s.stop()
		return nil, errStopped
	}
	s.sent.Add(1)
	return s.JetStream.PublishMsg(context.WithoutCancel(ctx), m, opts...)
}

// run calls f with a context that ends after n messages.
func (s *stopping) run(t *testing.T, n int64, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.left.Store(n)
	s.stop = cancel
	return f(ctx)
}

// A flush that takes longer than each Write may goes on where the last one was
// stopped.
func TestALongFlushGoesOn(t *testing.T) {
	rows, perWrite := 300_000, int64(2000)
	if testing.Short() {
		rows, perWrite = 30_000, 200
	}
	direct := connect(t)
	net := &stopping{JetStream: direct.js}
	k := open(t, net, direct.name)
	c := newCounting()
	desc := key(t, "hits_total", "").Desc()
	for i := range rows {
		c.add(desc.Key(strconv.Itoa(i)), 1)
	}
	messages := int64(rows/slotRows + 1)
	writes := int64(0)
	for {
		writes++
		c.Counters[writes].Value++ // some rows change meanwhile
		s := c.next()
		if net.run(t, perWrite, func(ctx context.Context) error { return k.Write(ctx, s) }) == nil {
			break
		}
		require.LessOrEqual(t, writes, messages/(perWrite-inFlight)+2)
	}
	assert.LessOrEqual(t, net.sent.Load(), messages+3*writes, "what was acknowledged was sent again")
	page, err := direct.Totals(t.Context(), snapshotQuery(rows))
	require.NoError(t, err)
	require.Len(t, page, rows)
	sum := int64(0)
	for _, total := range page {
		sum += total.Value
	}
	assert.Equal(t, int64(rows)+writes, sum)
}

// If the server has lost a part of the flush meanwhile, all is sent again.
func TestALongFlushOverALoss(t *testing.T) {
	const rows = 40 * slotRows
	s := servertest.NATS(t, "")
	create(t, dial(t, s.Addr()), StreamConfig("COUNTS"))
	net := &stopping{JetStream: dial(t, s.Addr())}
	k := open(t, net, "COUNTS")
	c := newCounting()
	for i := range rows {
		c.add(key(t, "hits_total", strconv.Itoa(i)), 1)
	}
	next := c.next()
	part := func(n int64) error {
		return net.run(t, n, func(ctx context.Context) error { return k.Write(ctx, next) })
	}
	require.Error(t, part(10))
	s.Stop()
	s.Keep("old")
	s.Start()
	for part(10) == nil || k.sources[c.Writer].slots[0].newest.at < 15 {
	}
	s.Stop()
	s.Bring("old")
	s.Start()
	net.left.Store(math.MaxInt64)
	write(t, k, next)
	page, err := k.Totals(t.Context(), snapshotQuery(rows))
	require.NoError(t, err)
	assert.Len(t, page, rows)
}
