package natssink

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
)

// messagesUnder counts the messages with a token.
func messagesUnder(t *testing.T, k *Sink, token string) int {
	t.Helper()
	stream, err := k.open(t.Context(), k.name)
	require.NoError(t, err)
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(k.name+"."+token+".>"))
	require.NoError(t, err)
	return len(info.State.Subjects)
}

// Rows are as many as there are series and writers that live, however many have
// lived before.
func TestChurn(t *testing.T) {
	writers, lanes, series := 10_000, 40, 20
	if testing.Short() {
		writers = 1000
	}
	k := connect(t)
	want, mu := map[string]int64{}, sync.Mutex{}
	elements, err := hll.New(hll.Options{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for lane := range lanes {
		all.Go(func() {
			rng, sink := rand.New(rand.NewPCG(1, uint64(lane))), open(t, k.js, k.name)
			for range writers / lanes {
				c := newCounting()
				s, n := key(t, "hits_total", strconv.Itoa(rng.IntN(series))), rng.Int64N(100)-30
				c.add(s, n)
				mu.Lock()
				want[s.String()] += n
				if rng.IntN(100) == 0 {
					var one hll.Sketch
					one.AddString(strconv.FormatInt(n, 10))
					elements.AddString(strconv.FormatInt(n, 10))
					c.AppendUniques(key(t, "visitors", "x"), 1, &one)
				}
				mu.Unlock()
				if err := sink.Write(t.Context(), c.next()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	alive := newCounting()
	alive.add(key(t, "hits_total", "0"), 1)
	want[key(t, "hits_total", "0").String()]++

	require.GreaterOrEqual(t, messagesUnder(t, k, counterToken), writers)
	done, err := k.Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, writers, done.Writers)
	require.NoError(t, k.Write(t.Context(), alive.next()))
	assert.Equal(t, want, totals(t, k))
	assert.Equal(t, 2, messagesUnder(t, k, counterToken), "one of sums and one of who lives")
	assert.LessOrEqual(t, messagesUnder(t, k, uniquesToken), 1)
	uniques, err := k.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	require.Len(t, uniques, 1)
	assert.Equal(t, elements.Estimate().Count, uniques[0].Sketch.Estimate().Count)

	done, err = k.Compact(t.Context(), time.Hour)
	require.NoError(t, err)
	assert.Zero(t, done, "who lives is let be")
	page, err := k.Totals(t.Context(), export.Query{Prefix: alive.Counters[0].Key.String()})
	require.NoError(t, err)
	assert.Equal(t, 1, page[0].Writers)
}

// Writers and roll-ups are stopped at any message; the total is that of the whole
// snapshots all the time, for who asks and for who follows. No writer counts as
// alive here, so all live on under new ids.
func TestRollUpsStoppedAnywhere(t *testing.T) {
	const steps, series = 60, 4
	first, seeds := rand.Uint64(), uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := first; seed < first+seeds; seed++ {
		direct := connect(t)
		net := &stopping{JetStream: direct.js}
		rng := rand.New(rand.NewPCG(seed, 1))
		var fleet []*member
		whole, f := map[string]int64{}, &rowstream.Fold{}
		for range steps {
			n := rng.Int64N(15)
			if rng.IntN(2) == 0 {
				n = 1000
			}
			switch {
			case rng.IntN(4) == 0:
				_ = net.run(t, n, func(ctx context.Context) error {
					_, err := open(t, net, direct.name).Compact(ctx, time.Nanosecond)
					return err
				})
			case len(fleet) == 0 || rng.IntN(6) == 0:
				fleet = append(fleet, &member{open(t, net, direct.name), newCounting(), map[string]int64{}})
			default:
				m := fleet[rng.IntN(len(fleet))]
				m.count(t, rng, series)
				if net.run(t, n, func(ctx context.Context) error { return m.sink.Write(ctx, m.next()) }) == nil {
					m.whole(whole)
				}
			}
			require.Equal(t, whole, nonzero(totals(t, direct)), "seed %d", seed)
			require.NoError(t, direct.read(t.Context(), direct.name, direct.name+".>", fold(f), nil))
			require.Equal(t, whole, nonzero(totals(t, f)), "seed %d", seed)
		}
		_, err := direct.Compact(t.Context(), time.Nanosecond)
		require.NoError(t, err)
		require.Equal(t, whole, nonzero(totals(t, direct)), "seed %d", seed)
		require.LessOrEqual(t, messagesUnder(t, direct, counterToken), 1)
	}
}

// A member is a process of a fleet, and what of its counts is in whole snapshots.
type member struct {
	sink *Sink
	*counting
	written map[string]int64
}

func (m *member) count(t *testing.T, rng *rand.Rand, series int) {
	for range 1 + rng.IntN(3) {
		s := key(t, "hits_total", strconv.Itoa(rng.IntN(series)))
		m.add(s, rng.Int64N(10)+1)
		if rng.IntN(8) == 0 {
			m.retire(s)
		}
	}
}

// whole adds to sums what the last snapshot had more than the one before.
func (m *member) whole(sums map[string]int64) {
	now := map[string]int64{}
	for c := range m.AllCounters() {
		now[c.Key.String()] += c.Value
	}
	for s, n := range now {
		sums[s] += n - m.written[s]
	}
	m.written = now
}

func nonzero(all map[string]int64) map[string]int64 {
	for s, n := range all {
		if n == 0 {
			delete(all, s)
		}
	}
	return all
}

// What comes after a roll-up from a process that was only late, and from one that
// hands on an earlier run's last snapshot.
func TestLateWriters(t *testing.T) {
	k := connect(t)
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, k.Write(t.Context(), c.next()))
	old := c.Snapshot
	old.Counters = slices.Clone(c.Counters)
	_, err := k.Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)

	other := open(t, k.js, k.name)
	require.NoError(t, other.Write(t.Context(), &old), "the sum has it")
	old.Seq++
	old.Counters[0].Value++
	require.ErrorIs(t, other.Write(t.Context(), &old), export.ErrTooLate)

	c.add(s, 2)
	for range 2 {
		require.NoError(t, k.Write(t.Context(), c.next()))
		assert.EqualValues(t, 7, totals(t, k)[s.String()])
	}
}

// A row that comes back from the network after its writer is gone counts no more.
func TestARowComesBack(t *testing.T) {
	k := connect(t)
	s := key(t, "hits_total", "x")
	c := newCounting()
	c.add(s, 5)
	require.NoError(t, k.Write(t.Context(), c.next()))
	_, err := k.Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	stream, err := k.open(t.Context(), k.name)
	require.NoError(t, err)
	late := &slot{subject: k.slotSubject(counterToken, s.Name(), c.Writer, 0),
		rows: []rowstream.Row{{Key: s, Writer: c.Writer, Created: 1, Seq: 1, Value: 5}}}
	_, err = k.putRows(t.Context(), stream, late, "late")
	require.NoError(t, err)
	for _, k.goneFor = range []time.Duration{goneFor, time.Nanosecond, goneFor} {
		assert.EqualValues(t, 5, totals(t, k)[s.String()])
		_, err = k.Compact(t.Context(), time.Nanosecond)
		require.NoError(t, err)
	}
	assert.Equal(t, 1, messagesUnder(t, k, counterToken))
	assert.Equal(t, 1, messagesUnder(t, k, writerToken), "that of the sums")
}

// Several at once do what one does.
func TestManyCompact(t *testing.T) {
	k := connect(t)
	s := key(t, "hits_total", "x")
	want := int64(0)
	for i := range 50 {
		c := newCounting()
		c.add(s, int64(i))
		want += int64(i)
		require.NoError(t, open(t, k.js, k.name).Write(t.Context(), c.next()))
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if _, err := open(t, k.js, k.name).Compact(t.Context(), time.Nanosecond); err != nil {
					assert.ErrorIs(t, err, export.ErrInterrupted)
				}
			}
		})
	}
	for range 10 {
		assert.Equal(t, want, totals(t, k)[s.String()])
	}
	all.Wait()
	_, err := k.Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, want, totals(t, k)[s.String()])
	assert.Equal(t, 1, messagesUnder(t, k, counterToken))
	_, err = k.Compact(t.Context(), 0)
	assert.Error(t, err)
}
