package natssink

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/internal/servertest"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

// write writes until it succeeds.
func write(t *testing.T, k *Sink, s *snapshot.Snapshot) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := k.Write(ctx, s)
		if err == nil {
			return
		}
		require.NoError(t, ctx.Err(), err)
	}
}

// A stream that comes back with an older state, or with none, has the truth again
// after the next flush of each process.
func TestAServerThatFellBehindIsHealed(t *testing.T) {
	s := servertest.NATS(t, "")
	js := dial(t, s.Addr())
	create(t, js, StreamConfig("COUNTS"))
	a, b := open(t, js, "COUNTS"), open(t, js, "COUNTS")
	ca, cb := newCounting(), newCounting()
	series := key(t, "hits_total", "x")
	want := map[string]int64{}
	step := func() {
		ca.add(series, 10)
		cb.add(series, 1)
		want[series.String()] += 11
		write(t, a, ca.next())
		write(t, b, cb.next())
	}
	step()
	step()
	s.Stop()
	s.Keep("old")
	s.Start()
	step()
	ca.retire(series)
	step()
	ca.Final = nil
	step()
	require.Equal(t, want, totals(t, a))

	for _, lost := range []string{"some", "all"} {
		s.Stop()
		if lost == "some" {
			s.Bring("old")
		} else {
			s.Lose()
		}
		s.Start()
		if lost == "all" {
			again := dial(t, s.Addr())
			create(t, again, StreamConfig("COUNTS"))
		}
		write(t, a, ca.next())
		write(t, b, cb.next())
		require.Equal(t, want, totals(t, a), lost)
		step()
		require.Equal(t, want, totals(t, a), lost)
	}
}

// Whatever requests and acknowledgements get lost or come late, once all has been
// written the totals are what was counted, for those that ask and those that
// follow.
func TestTruthUnderChaos(t *testing.T) {
	const writers, rounds = 4, 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	addr := servertest.NATSAddr(t)
	direct := connectTo(t, addr)
	proxy, err := chaos.Listen(addr, seed)
	require.NoError(t, err)
	defer proxy.Close()
	want := make([]map[string]int64, writers)
	ctx, cancel := context.WithCancel(t.Context())
	var f rowstream.Fold
	followed := make(chan error, 1)
	follower := open(t, dial(t, proxy.Addr()), direct.name)
	go func() { followed <- follower.Follow(ctx, &f, nil) }()

	var fleet []*Sink
	for range writers {
		k := open(t, dial(t, proxy.Addr()), direct.name)
		k.ackWait = 50 * time.Millisecond
		fleet = append(fleet, k)
	}
	proxy.Set(chaos.Faults{Cut: 30, Mute: 30, Late: 30, Slow: 10, Delay: 50 * time.Millisecond})
	done := make(chan struct{})
	for w, k := range fleet {
		go func() {
			defer func() { done <- struct{}{} }()
			want[w] = live(t, k, rand.New(rand.NewPCG(seed, uint64(w))), rounds)
		}()
	}
	for range writers {
		<-done
	}
	sum := map[string]int64{}
	for _, counted := range want {
		for id, n := range counted {
			sum[id] += n
		}
	}
	assert.Equal(t, sum, totals(t, direct))
	proxy.Set(chaos.Faults{})
	for deadline := time.Now().Add(patience); fmt.Sprint(totals(t, &f)) != fmt.Sprint(sum); {
		require.True(t, time.Now().Before(deadline), "who follows has %v, want %v", totals(t, &f), sum)
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	cancel()
	assert.ErrorIs(t, <-followed, context.Canceled)
}

// live is a process that counts and writes through bad connections; the last
// snapshot it writes until that is acknowledged. It returns what it counted.
func live(t *testing.T, k *Sink, rng *rand.Rand, rounds int) map[string]int64 {
	c, want := newCounting(), map[string]int64{}
	for range rounds {
		for range rng.IntN(10) {
			s := key(t, "chaos_total", strconv.Itoa(rng.IntN(30)))
			n := rng.Int64N(100) - 30
			c.add(s, n)
			want[s.String()] += n
		}
		if rng.IntN(4) == 0 {
			c.retire(key(t, "chaos_total", strconv.Itoa(rng.IntN(30))))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := k.Write(ctx, c.next()); err == nil {
			c.Final = nil
		}
		cancel()
	}
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := k.Write(ctx, c.next())
		cancel()
		if err == nil {
			return want
		}
	}
	t.Error("the last snapshot does not get through")
	return want
}

// A full stream refuses rows, and takes them once there is room.
func TestAFullStreamLosesNothing(t *testing.T) {
	k := connect(t)
	config := StreamConfig(k.name)
	config.MaxBytes = 1024
	_, err := k.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	c, want := newCounting(), map[string]int64{}
	for i := range 100 {
		s := key(t, "hits_total", strconv.Itoa(i))
		c.add(s, int64(i))
		want[s.String()] = int64(i)
	}
	err = k.Write(t.Context(), c.next())
	var api *jetstream.APIError
	require.ErrorAs(t, err, &api)
	config.MaxBytes = -1
	_, err = k.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, k.Write(t.Context(), c.next()))
	assert.Equal(t, want, totals(t, k))
}

func TestStreamsThatWouldLoseRowsAreRefused(t *testing.T) {
	k := connect(t)
	for _, spoil := range []func(*jetstream.StreamConfig){
		func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = -1 },
		func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		func(c *jetstream.StreamConfig) { c.MaxBytes, c.Discard = 1<<20, jetstream.DiscardOld },
	} {
		config := StreamConfig(k.name)
		spoil(&config)
		_, err := k.js.UpdateStream(t.Context(), config)
		require.NoError(t, err)
		err = open(t, k.js, k.name).Write(t.Context(), newCounting().next())
		require.ErrorIs(t, err, export.ErrSchema)
	}
	err := open(t, k.js, k.name+"-none").Write(t.Context(), newCounting().next())
	require.ErrorIs(t, err, export.ErrSchema)
}

func TestARowThatIsTooLarge(t *testing.T) {
	k := connect(t)
	c := newCounting()
	c.Uniques = []snapshot.UniquesRow{{Key: key(t, "visitors", "x"), Created: 1, Sketch: make([]byte, 2<<20)}}
	err := k.Write(t.Context(), c.next())
	require.ErrorIs(t, err, export.ErrTooLarge)
}
