package kafkasink

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	topic      = "counts"
	partitions = 3

	// patience bounds every wait for the broker.
	patience = 20 * time.Second
)

func broker(t testing.TB, o ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append(o, kfake.NumBrokers(1))...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, c.CreateTopic(topic, partitions, map[string]string{
		"cleanup.policy":         "compact",
		"message.timestamp.type": "LogAppendTime",
	}))
	return c
}

func client(t testing.TB, c *kfake.Cluster, o ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(o,
		kgo.SeedBrokers(c.ListenAddrs()...),
		kgo.MetadataMinAge(10*time.Millisecond), // what a retry waits for, 5 s otherwise
		kgo.RetryBackoffFn(func(int) time.Duration { return time.Millisecond }))...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return cl
}

func open(t testing.TB, cl *kgo.Client) *Sink {
	t.Helper()
	k, err := New(Options{Client: cl, Topic: topic})
	require.NoError(t, err)
	t.Cleanup(func() { k.Close() })
	return k
}

// fold returns what is on the topic, read from the start, and the number of rows.
func fold(t testing.TB, c *kfake.Cluster) (f *rowstream.Fold, rows int) {
	t.Helper()
	f = new(rowstream.Fold)
	r, err := open(t, client(t, c)).newReader(t.Context(), topic, func(record *kgo.Record, m rowstream.Message) error {
		for _, row := range m.Rows {
			assert.Equal(t, string(row.AppendID(nil)), string(record.Key))
		}
		rows += len(m.Rows)
		return f.Apply(m)
	})
	require.NoError(t, err)
	defer r.client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, r.read(ctx))
	return f, rows
}

func totals(t testing.TB, f export.Reader) map[string]int64 {
	t.Helper()
	page, err := f.Totals(t.Context(), export.Query{})
	require.NoError(t, err)
	all := map[string]int64{}
	for _, total := range page {
		all[total.Key.String()] = total.Value
	}
	return all
}

func key(t testing.TB, name, value string) series.Key {
	t.Helper()
	d, err := series.NewDesc(name, "l")
	require.NoError(t, err)
	return d.Key(value)
}

// counting is what a sink gets snapshots of in tests.
type counting struct {
	snapshot.Snapshot
	want map[string]int64 // shared by all
}

func newCounting(t testing.TB, want map[string]int64) *counting {
	c := &counting{Snapshot: snapshot.Snapshot{Writer: snapshot.NewWriterID()}, want: want}
	for i := range 30 {
		k := key(t, "hits_total", strconv.Itoa(i))
		c.Counters = append(c.Counters, snapshot.CounterRow{Key: k, Created: 1})
		want[k.String()] += 0
	}
	return c
}

// count adds to some series, perhaps makes one final, and returns the next snapshot.
func (c *counting) count(rng *rand.Rand) *snapshot.Snapshot {
	for range rng.IntN(10) {
		row := &c.Counters[rng.IntN(len(c.Counters))]
		n := rng.Int64N(100) - 30
		row.Value += n
		c.want[row.Key.String()] += n
	}
	if rng.IntN(4) == 0 {
		row := &c.Counters[rng.IntN(len(c.Counters))]
		c.Final = append(c.Final, *row)
		row.Created, row.Value = row.Created+1, 0
	}
	c.Seq++
	return &c.Snapshot
}

// Acknowledgements get lost and requests fail at random; the topic adds up to what
// was counted all the same, before and after it is compacted.
func TestTruthUnderFaults(t *testing.T) {
	const writers, rounds = 3, 40
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	c := broker(t)
	want := map[string]int64{}
	for range writers {
		k, source := open(t, client(t, c)), newCounting(t, want)
		for range rounds {
			if rng.IntN(3) == 0 {
				faults := []*kerr.Error{kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut, kerr.NotLeaderForPartition, kerr.InvalidTxnState}
				c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: faults[rng.IntN(len(faults))], Count: 1 + rng.IntN(2)})
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if rng.IntN(5) == 0 {
				cancel()
			}
			if err := k.Write(ctx, source.count(rng)); err == nil {
				source.Final = nil
			}
			cancel()
		}
		last := source.count(rng)
		for tries := 0; k.Write(t.Context(), last) != nil; tries++ {
			require.Less(t, tries, 10)
		}
	}
	f, before := fold(t, c)
	assert.Equal(t, want, totals(t, f))
	c.Compact()
	f, after := fold(t, c)
	assert.Equal(t, want, totals(t, f))
	assert.LessOrEqual(t, after, before)
}

func TestUniquesAreUnions(t *testing.T) {
	c := broker(t)
	k := open(t, client(t, c))
	var union hll.Sketch
	for w := range 3 {
		var one hll.Sketch
		for i := range 100 {
			one.AddString(strconv.Itoa(w*50 + i))
		}
		require.NoError(t, union.Merge(&one))
		s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1}
		s.AppendUniques(key(t, "visitors", "x"), 1, &one)
		require.NoError(t, k.Write(t.Context(), s))
	}
	f, _ := fold(t, c)
	got, err := f.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	require.Len(t, got, 1)
	want, err := union.MarshalBinary()
	require.NoError(t, err)
	have, err := got[0].Sketch.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, want, have)
}

// Only rows that have changed are sent, and a snapshot that the topic holds not at
// all.
func TestOnlyChangesAreSent(t *testing.T) {
	c := broker(t)
	k, source := open(t, client(t, c)), newCounting(t, map[string]int64{})
	source.Seq = 1
	for range 2 {
		require.NoError(t, k.Write(t.Context(), &source.Snapshot))
	}
	_, records := fold(t, c)
	assert.Equal(t, len(source.Counters), records)
	source.Counters[7].Value++
	source.Seq++
	require.NoError(t, k.Write(t.Context(), &source.Snapshot))
	_, more := fold(t, c)
	assert.Equal(t, records+1, more)

	again := open(t, client(t, c)) // an earlier run's last snapshot, handed on
	require.NoError(t, again.Write(t.Context(), &source.Snapshot))
	f, _ := fold(t, c)
	assert.EqualValues(t, 1, totals(t, f)[source.Counters[7].Key.String()])
}

// Write ends with its context while the broker does not answer, and the records
// under way are not overtaken.
func TestWriteEndsWithItsContext(t *testing.T) {
	c := broker(t)
	k, source := open(t, client(t, c)), newCounting(t, map[string]int64{})
	stuck := make(chan struct{})
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.SleepControl(func() { <-stuck })
		return nil, nil, false
	})
	for range 2 {
		source.Counters[0].Value++
		source.Seq++
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		require.ErrorIs(t, k.Write(ctx, &source.Snapshot), context.DeadlineExceeded)
		cancel()
	}
	close(stuck)
	require.NoError(t, k.Write(t.Context(), &source.Snapshot))
	f, _ := fold(t, c)
	assert.EqualValues(t, 2, totals(t, f)[source.Counters[0].Key.String()])
}

func TestErrorsAreTyped(t *testing.T) {
	for _, e := range []struct {
		broker *kerr.Error
		want   error
	}{
		{kerr.TopicAuthorizationFailed, export.ErrDenied},
		{kerr.MessageTooLarge, export.ErrTooLarge},
		{kerr.InvalidTxnState, kerr.InvalidTxnState},
	} {
		c := broker(t)
		k, source := open(t, client(t, c)), newCounting(t, map[string]int64{})
		source.Seq = 1
		faults := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: e.broker, Count: -1})
		err := k.Write(t.Context(), &source.Snapshot)
		require.ErrorIs(t, err, e.want)
		faults.Remove()
		require.NoError(t, k.Write(t.Context(), &source.Snapshot))
	}
	k, err := New(Options{Client: client(t, broker(t), kgo.UnknownTopicRetries(0)), Topic: "none"})
	require.NoError(t, err)
	source := newCounting(t, map[string]int64{})
	source.Seq = 1
	err = k.Write(t.Context(), &source.Snapshot)
	require.ErrorIs(t, err, export.ErrSchema)
}

func TestNew(t *testing.T) {
	c := broker(t)
	for _, o := range []Options{
		{Topic: topic},
		{Client: client(t, c)},
		{Client: client(t, c, kgo.DisableIdempotentWrite()), Topic: topic},
	} {
		_, err := New(o)
		assert.Error(t, err)
	}
}
