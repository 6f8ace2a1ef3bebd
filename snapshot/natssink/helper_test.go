package natssink

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// patience bounds every wait for a server.
const patience = 20 * time.Second

// dial connects to a server, and again whenever the connection ends.
func dial(t testing.TB, addr string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("nats://"+addr,
		nats.ReconnectWait(time.Millisecond),
		nats.ReconnectJitter(0, 0),
		nats.MaxReconnects(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // which prints them otherwise
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return js
}

// connect returns a sink, with a stream of the test's own that is deleted in the end.
func connect(t testing.TB) *Sink {
	t.Helper()
	return connectTo(t, servertest.NATSAddr(t))
}

func connectTo(t testing.TB, addr string) *Sink {
	t.Helper()
	js := dial(t, addr)
	name := "test-" + rand.Text()
	create(t, js, StreamConfig(name))
	t.Cleanup(func() { js.DeleteStream(context.Background(), name) })
	return open(t, js, name)
}

func create(t testing.TB, js jetstream.JetStream, c jetstream.StreamConfig) {
	t.Helper()
	_, err := js.CreateStream(t.Context(), c)
	require.NoError(t, err)
}

func open(t testing.TB, js jetstream.JetStream, stream string) *Sink {
	t.Helper()
	k, err := New(Options{JetStream: js, Stream: stream, AckWait: time.Second})
	require.NoError(t, err)
	return k
}

// key returns the key of a series with one label.
func key(t testing.TB, name, value string) series.Key {
	t.Helper()
	d, err := series.NewDesc(name, "l")
	require.NoError(t, err)
	return d.Key(value)
}

// counting is what a sink gets snapshots of in tests.
type counting struct {
	snapshot.Snapshot
	at map[string]int // in Counters
}

func newCounting() *counting {
	return &counting{Snapshot: snapshot.Snapshot{Writer: snapshot.NewWriterID()}, at: map[string]int{}}
}

func (c *counting) add(k series.Key, n int64) {
	i, ok := c.at[k.String()]
	if !ok {
		i = len(c.Counters)
		c.at[k.String()] = i
		c.Counters = append(c.Counters, snapshot.CounterRow{Key: k, Created: 1})
	}
	c.Counters[i].Value += n
}

// retire makes a series final and starts it anew.
func (c *counting) retire(k series.Key) {
	if i, ok := c.at[k.String()]; ok {
		c.Final = append(c.Final, c.Counters[i])
		c.Counters[i].Created++
		c.Counters[i].Value = 0
	}
}

// next returns the next snapshot.
func (c *counting) next() *snapshot.Snapshot {
	c.Seq++
	return &c.Snapshot
}

// totals returns all totals by key, read in small pages.
func totals(t testing.TB, r export.Reader) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	q := export.Query{Limit: 100}
	for {
		page, err := r.Totals(t.Context(), q)
		require.NoError(t, err)
		for _, total := range page {
			id := total.Key.String()
			require.Greater(t, id, q.After.String())
			all[id] = total.Value
			q.After = total.Key
		}
		if len(page) == 0 {
			return all
		}
	}
}

// snapshotQuery selects up to n series.
func snapshotQuery(n int) export.Query { return export.Query{Limit: n + 1} }
