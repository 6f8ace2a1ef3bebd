package natssink

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/sinkkit/rowstream"
)

// A restless is a stream whose messages are replaced and removed while they are
// read, and its consumer. What that says is left is any number.
type restless struct {
	jetstream.Consumer
	rng     *rand.Rand
	data    []byte
	last    uint64
	there   map[string]uint64 // sequences by subject
	changes int               // to come

	next, delivered uint64
	lossy           bool
}

func (s *restless) change() {
	if s.changes == 0 {
		return
	}
	s.changes--
	subject := strconv.Itoa(s.rng.IntN(8))
	if s.rng.IntN(6) == 0 {
		delete(s.there, subject)
		return
	}
	s.last++
	s.there[subject] = s.last
}

// end returns the sequence of the last message.
func (s *restless) end() (last uint64) {
	for at := range maps.Values(s.there) {
		last = max(last, at)
	}
	return last
}

func (s *restless) Fetch(n int, _ ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	batch := make(restlessBatch, n)
	for range s.rng.IntN(4) {
		for range s.rng.IntN(3) {
			s.change()
		}
		m := restlessMsg{data: s.data}
		for subject, at := range s.there {
			if at > s.next && (m.subject == "" || at < m.meta.Sequence.Stream) {
				m.subject, m.meta.Sequence.Stream = subject, at
			}
		}
		if m.subject == "" {
			break
		}
		s.next = m.meta.Sequence.Stream
		s.delivered++
		m.meta.Sequence.Consumer = s.delivered
		m.meta.NumPending = s.count()
		if !s.lossy || s.rng.IntN(20) > 0 {
			batch <- m
		}
	}
	close(batch)
	return batch, nil
}

// count is mostly near the truth.
func (s *restless) count() (n uint64) {
	for at := range maps.Values(s.there) {
		if at > s.next {
			n++
		}
	}
	return max(n, 2) - 2 + uint64(s.rng.IntN(5))
}

func (s *restless) Info(context.Context) (*jetstream.ConsumerInfo, error) {
	return &jetstream.ConsumerInfo{Delivered: jetstream.SequenceInfo{Consumer: s.delivered}, NumPending: s.count()}, nil
}

type restlessBatch chan jetstream.Msg

func (b restlessBatch) Messages() <-chan jetstream.Msg { return b }
func (b restlessBatch) Error() error                   { return nil }

type restlessMsg struct {
	jetstream.Msg
	subject string
	data    []byte
	meta    jetstream.MsgMetadata
}

func (m restlessMsg) Metadata() (*jetstream.MsgMetadata, error) { return &m.meta, nil }
func (m restlessMsg) Data() []byte                              { return m.data }
func (m restlessMsg) Subject() string                           { return m.subject }

// Whatever is replaced or removed meanwhile, and whatever the server says is left,
// a read that ends has all that was there when the stream was last asked, so all
// that was there when it began, or what came in its place.
func TestAReadHasAllThatIsThere(t *testing.T) {
	data, err := rowstream.Append(nil, rowstream.Row{Key: key(t, "hits_total", "x"), Created: 1})
	require.NoError(t, err)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ended, gaps := 0, 0
	for i := range uint64(3_000) {
		rng := rand.New(rand.NewPCG(seed, i))
		s := &restless{rng: rng, data: data, there: map[string]uint64{}, changes: 20, lossy: rng.IntN(4) == 0}
		for s.changes > 0 {
			s.change()
		}
		s.changes = rng.IntN(maxAsks) // fewer than a reader asks
		got := map[string]uint64{}
		var asked map[string]uint64
		complete := func() {
			for subject, at := range asked {
				require.GreaterOrEqual(t, got[subject], at, "round %d: subject %s of %v", i, subject, asked)
			}
		}
		r := &reader{consumer: s,
			last: func(context.Context) (uint64, error) {
				asked = maps.Clone(s.there)
				last := s.end()
				s.change()
				return last, nil
			},
			to: func(m *received) error { got[m.subject] = m.at; return nil },
		}
		follows := rng.IntN(2) == 0
		if follows {
			r.caughtUp = complete
		}
		more, err := r.left(t.Context(), s.count())
		for rounds := 0; more && err == nil && (!follows || rounds < 50); rounds++ {
			more, err = r.batch(t.Context())
			require.Less(t, rounds, 10_000)
		}
		switch {
		case err != nil:
			require.ErrorIs(t, err, errGap)
			gaps++
		case !follows:
			complete()
			ended++
		}
	}
	assert.Positive(t, ended)
	assert.Positive(t, gaps)
	t.Logf("%d reads ended, %d found a gap", ended, gaps)
}

// A read that begins after a message was acknowledged has it, or what has come in
// its place, while others replace messages all the time.
func TestAReadDuringReplacement(t *testing.T) {
	const subjects, reads = 40, 100
	k := connect(t)
	x := key(t, "hits_total", "x")
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		rng := rand.New(rand.NewPCG(1, 1))
		for seq := uint64(1); ; seq++ {
			data, err := rowstream.Append(nil, rowstream.Row{Key: x, Created: 1, Seq: seq})
			if err == nil {
				_, err = k.js.Publish(ctx, fmt.Sprintf("%s.counter.busy.%d", k.name, rng.IntN(subjects)), data)
			}
			if ctx.Err() != nil {
				stopped <- nil
				return
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	rng := rand.New(rand.NewPCG(2, 2))
	acked := map[string]uint64{}
	for seq := uint64(1); seq <= reads; seq++ {
		data, err := rowstream.Append(nil, rowstream.Row{Key: x, Created: 1, Seq: seq})
		require.NoError(t, err)
		subject := fmt.Sprintf("%s.counter.busy.%d", k.name, rng.IntN(subjects))
		ack, err := k.js.Publish(t.Context(), subject, data)
		require.NoError(t, err)
		acked[subject] = ack.Sequence
		got := map[string]uint64{}
		require.NoError(t, k.read(t.Context(), k.name, k.name+".counter.>", func(m *received) error {
			got[m.subject] = m.at
			return nil
		}, nil))
		for _, s := range slices.Sorted(maps.Keys(acked)) {
			require.GreaterOrEqual(t, got[s], acked[s], "read %d: %s", seq, s)
		}
	}
	stop()
	require.NoError(t, <-stopped)
}

// A stream with AllowDirect is asked in another way.
func TestAReadOfADirectStream(t *testing.T) {
	k := connect(t)
	config := StreamConfig(k.name)
	config.AllowDirect = true
	_, err := k.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	c, x := newCounting(), key(t, "hits_total", "x")
	assert.Empty(t, totals(t, k))
	c.add(x, 2)
	require.NoError(t, k.Write(t.Context(), c.next()))
	assert.Equal(t, map[string]int64{x.String(): 2}, totals(t, k))
}
