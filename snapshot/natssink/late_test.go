package natssink

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// lossy is a connection on which messages get lost, come late or come twice, so
// late that the server has forgotten their ids, and acknowledgements get lost.
type lossy struct {
	jetstream.JetStream
	mu   sync.Mutex
	rng  *mathrand.Rand
	good bool // from now on
	late []func()
}

func (l *lossy) PublishMsg(ctx context.Context, m *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.good {
		return l.JetStream.PublishMsg(ctx, m, opts...)
	}
	for len(l.late) > 0 && l.rng.IntN(3) == 0 {
		i := l.rng.IntN(len(l.late))
		l.late[i]()
		l.late = append(l.late[:i], l.late[i+1:]...)
	}
	again := nats.NewMsg(m.Subject)
	again.Data = m.Data
	later := func() {
		opts := append(append([]jetstream.PublishOpt(nil), opts...), jetstream.WithMsgID(rand.Text()))
		l.JetStream.PublishMsg(context.WithoutCancel(ctx), again, opts...) // refused or not
	}
	switch l.rng.IntN(8) {
	case 0: // lost
		return nil, context.DeadlineExceeded
	case 1: // the acknowledgement is lost
		l.JetStream.PublishMsg(ctx, m, opts...)
		return nil, context.DeadlineExceeded
	case 2: // late
		l.late = append(l.late, later)
		return nil, context.DeadlineExceeded
	case 3: // twice
		l.late = append(l.late, later)
	}
	return l.JetStream.PublishMsg(ctx, m, opts...)
}

// Whatever gets lost, comes late or twice, once a snapshot has been written the
// totals are what was counted, and what is still late changes nothing.
func TestMessagesInAnyOrder(t *testing.T) {
	const runs, rounds, series = 8, 30, 5
	first := mathrand.Uint64()
	for seed := first; seed < first+runs; seed++ {
		k := connect(t)
		rng := mathrand.New(mathrand.NewPCG(seed, 1))
		net := &lossy{JetStream: k.js, rng: mathrand.New(mathrand.NewPCG(seed, 2))}
		bad := open(t, net, k.name)
		c, want := newCounting(), map[string]int64{}
		for range rounds {
			for range rng.IntN(4) {
				s := key(t, "hits_total", strconv.Itoa(rng.IntN(series)))
				n := rng.Int64N(10) - 3
				c.add(s, n)
				want[s.String()] += n
			}
			if rng.IntN(4) == 0 {
				c.retire(key(t, "hits_total", strconv.Itoa(rng.IntN(series))))
			}
			if err := bad.Write(t.Context(), c.next()); err == nil {
				c.Final = nil
				require.Equal(t, want, totals(t, k), "seed %d", seed)
			}
		}
		net.good = true
		require.NoError(t, bad.Write(t.Context(), c.next()))
		for _, late := range net.late {
			late()
		}
		require.Equal(t, want, totals(t, k), "seed %d", seed)
	}
}
