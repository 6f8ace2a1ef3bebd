package kafkasink

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

// newMember is a process with its own client, that counts one series.
func newMember(t *testing.T, c *kfake.Cluster, o ...kgo.Opt) (*Sink, *snapshot.Snapshot) {
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID()}
	s.Counters = []snapshot.CounterRow{{Key: key(t, "hits_total", "x"), Created: 1}}
	return open(t, client(t, c, o...)), s
}

// write counts, and writes until it succeeds: who has been fenced finds out once.
func write(t *testing.T, k *Sink, s *snapshot.Snapshot, n int64) {
	t.Helper()
	s.Counters[0].Value += n
	s.Seq++
	err := k.Write(t.Context(), s)
	if err != nil {
		require.ErrorIs(t, err, export.ErrInterrupted)
		err = k.Write(t.Context(), s)
	}
	require.NoError(t, err)
}

// sum returns the total of newMember's series and its writers.
func sum(t *testing.T, k *Sink) (int64, int) {
	t.Helper()
	page, err := k.Totals(t.Context(), export.Query{Prefix: "hits_total{"})
	require.NoError(t, err)
	require.Len(t, page, 1)
	return page[0].Value, page[0].Writers
}

func compact(t *testing.T, c *kfake.Cluster) Compacted {
	t.Helper()
	done, err := open(t, client(t, c)).Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	return done
}

// Two processes that were copied from one fence each other; one goes on under the
// id and the other under a new one.
func TestAClonedProcessGoesOnUnderAnotherID(t *testing.T) {
	c := broker(t)
	k, s := newMember(t, c)
	write(t, k, s, 5)
	clone, _ := newMember(t, c)
	d := *s
	d.Counters = slices.Clone(s.Counters)
	for i := range int64(5) {
		write(t, clone, &d, 10)
		write(t, k, s, 1)
		total, writers := sum(t, k)
		assert.EqualValues(t, 5+11*(i+1), total)
		assert.Equal(t, 2, writers)
	}
}

// An earlier run's last snapshot that is older than what the topic has changes
// nothing, though it comes later.
func TestAnOlderSnapshotComesLater(t *testing.T) {
	c := broker(t)
	k, s := newMember(t, c)
	write(t, k, s, 5)
	old := *s
	old.Counters = slices.Clone(s.Counters)
	write(t, k, s, 1)
	require.NoError(t, k.Close())
	other := open(t, client(t, c))
	require.NoError(t, other.Write(t.Context(), &old))
	c.Compact()
	total, _ := sum(t, k)
	assert.EqualValues(t, 6, total)
}

func TestLateWriters(t *testing.T) {
	c := broker(t)
	k, s := newMember(t, c)
	write(t, k, s, 5)
	old := *s
	old.Counters = slices.Clone(s.Counters)
	assert.Equal(t, Compacted{Writers: 1, Rows: 1}, compact(t, c))

	other := open(t, client(t, c))
	require.NoError(t, other.Write(t.Context(), &old), "the sum has it")
	old.Seq++
	old.Counters[0].Value++
	require.ErrorIs(t, other.Write(t.Context(), &old), export.ErrTooLate)

	write(t, k, s, 2)
	write(t, k, s, 0)
	total, writers := sum(t, k)
	assert.EqualValues(t, 7, total)
	assert.Equal(t, 1, writers)
}

// Rows are as many as there are series and writers that live.
func TestChurn(t *testing.T) {
	writers := 300
	if testing.Short() {
		writers = 30
	}
	c := broker(t)
	cl := client(t, c)
	want := map[string]int64{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range writers {
		k := open(t, cl)
		series, n := key(t, "hits_total", strconv.Itoa(rng.IntN(5))), rng.Int64N(100)-30
		s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1}
		s.Counters = []snapshot.CounterRow{{Key: series, Created: 1, Value: n}}
		want[series.String()] += n
		require.NoError(t, k.Write(t.Context(), s))
		require.NoError(t, k.Close())
	}
	k := open(t, cl)
	done, err := k.Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, Compacted{Writers: writers, Rows: writers}, done)
	assert.Equal(t, want, totals(t, k))
	c.Compact()
	f, rows := fold(t, c)
	assert.Equal(t, want, totals(t, f))
	assert.Equal(t, len(want), rows)
	done, err = k.Compact(t.Context(), time.Hour)
	require.NoError(t, err)
	assert.Zero(t, done)
}

// Roll-ups and writers are stopped at any request to the broker. Once the next one
// got through the total is what was counted.
func TestRollUpsStoppedAnywhere(t *testing.T) {
	const steps = 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	c := broker(t)
	var left atomic.Int64
	left.Store(1 << 40)
	for _, request := range []kmsg.Key{kmsg.Produce, kmsg.EndTxn, kmsg.TxnOffsetCommit, kmsg.InitProducerID} {
		c.ControlKey(int16(request), func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			if left.Add(-1) >= 0 {
				return nil, nil, false
			}
			return nil, errStopped, true
		})
	}
	brief := kgo.TransactionTimeout(500 * time.Millisecond) // for which all wait if one was stopped
	reader := open(t, client(t, c, brief))
	want := int64(0)
	var fleet []*Sink
	var counts []*snapshot.Snapshot
	for range steps {
		if len(fleet) == 0 || rng.IntN(5) == 0 {
			k, s := newMember(t, c, brief)
			fleet, counts = append(fleet, k), append(counts, s)
		}
		left.Store(rng.Int64N(12))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(5+rng.IntN(60))*time.Millisecond)
		i := rng.IntN(len(fleet))
		if rng.IntN(3) == 0 {
			reader.Compact(ctx, time.Nanosecond)
		} else {
			n := rng.Int64N(10) + 1
			counts[i].Counters[0].Value += n
			counts[i].Seq++
			want += n
			fleet[i].Write(ctx, counts[i])
		}
		cancel()
	}
	left.Store(1 << 40)
	compact(t, c) // whose transaction nobody else can end
	for i, k := range fleet {
		for tries := 0; ; tries++ {
			counts[i].Seq++
			err := k.Write(t.Context(), counts[i])
			if err == nil {
				break
			}
			require.Less(t, tries, 20, err)
		}
	}
	total, _ := sum(t, reader)
	require.Equal(t, want, total)
	compact(t, c)
	total, writers := sum(t, reader)
	require.Equal(t, want, total)
	require.Zero(t, writers)
}

// A read that runs out of time says which partitions it lacks.
func TestAReadThatIsCutShort(t *testing.T) {
	c := broker(t)
	k, s := newMember(t, c)
	write(t, k, s, 1)
	c.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, errStopped, true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	page, err := k.Totals(ctx, export.Query{})
	assert.Empty(t, page)
	var partial *export.PartialError
	require.ErrorAs(t, err, &partial)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotEmpty(t, partial.Missing)
	for _, p := range partial.Missing {
		assert.Contains(t, []string{topic + "/0", topic + "/1", topic + "/2"}, p)
	}
}

func TestCompactNeedsTheBrokersClock(t *testing.T) {
	c := broker(t)
	require.NoError(t, c.CreateTopic("other", 1, nil))
	k, err := New(Options{Client: client(t, c), Topic: "other"})
	require.NoError(t, err)
	_, err = k.Compact(t.Context(), time.Hour)
	require.ErrorIs(t, err, export.ErrSchema)
	_, err = k.Compact(t.Context(), 0)
	assert.Error(t, err)
}

func TestANewClientMustNotConsume(t *testing.T) {
	_, err := New(Options{Client: client(t, broker(t), kgo.ConsumeTopics(topic)), Topic: topic})
	assert.Error(t, err)
}

// errStopped is what a broker's answer is replaced with.
var errStopped = kerr.CoordinatorNotAvailable
