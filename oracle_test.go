package hotcount

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
)

// A ledger is the dumbest consumer of snapshots that is right: of each (writer,
// key, created) it keeps the row of the highest seq. It checks on the way that
// rows which were final never change.
type ledger struct {
	t    *testing.T
	mu   sync.Mutex
	rows map[rowID]ledgerRow
}

type rowID struct {
	writer  snapshot.WriterID
	key     string
	created int64
}

type ledgerRow struct {
	seq   uint64
	value int64
	final bool
}

func newLedger(t *testing.T) *ledger { return &ledger{t: t, rows: map[rowID]ledgerRow{}} }

// Write makes the ledger a Sink.
func (l *ledger) Write(_ context.Context, s *snapshot.Snapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	inThis := map[rowID]bool{}
	book := func(rows []snapshot.CounterRow, final bool) {
		for _, r := range rows {
			id := rowID{s.Writer, r.Key.String(), r.Created}
			assert.False(l.t, inThis[id], "two rows for %v in snapshot %d", id, s.Seq)
			inThis[id] = true
			old := l.rows[id]
			if old.final {
				assert.True(l.t, final, "row %v was final in snapshot %d, and is not in %d", id, old.seq, s.Seq)
				assert.Equal(l.t, old.value, r.Value, "final row %v", id)
			}
			if s.Seq >= old.seq {
				l.rows[id] = ledgerRow{s.Seq, r.Value, final}
			}
		}
	}
	book(s.Counters, false)
	book(s.Final, true)
	return nil
}

// totals returns the sum of rows by key, without the engine's own series.
func (l *ledger) totals() map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	sums := map[string]int64{}
	for id, r := range l.rows {
		if len(id.key) < len(reservedPrefix) || id.key[:len(reservedPrefix)] != reservedPrefix {
			sums[id.key] += r.value
		}
	}
	return sums
}

func (l *ledger) total(c *Counter) int64 { return l.totals()[c.Key().String()] }

// rowsOf returns how many rows of a key the ledger holds.
func (l *ledger) rowsOf(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for id := range l.rows {
		if id.key == key {
			n++
		}
	}
	return n
}

// sweep takes a snapshot of e, without acknowledging it.
func (l *ledger) sweep(e *Engine) *snapshot.Snapshot {
	s := new(snapshot.Snapshot)
	e.Snapshot(s)
	assert.NoError(l.t, l.Write(context.Background(), s))
	return s
}

// export takes a snapshot of e and acknowledges it.
func (l *ledger) export(e *Engine) *snapshot.Snapshot {
	s := l.sweep(e)
	e.Acknowledge(s.Seq)
	return s
}

func newEngine(t *testing.T, o Options) *Engine {
	e, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close(context.Background())) })
	return e
}

// collide makes every two keys of an engine that has no series yet collide.
func collide(e *Engine) { e.hasher.mask = 0 }

func counterRow(s *snapshot.Snapshot, key string) (snapshot.CounterRow, bool) {
	for _, r := range s.Counters {
		if r.Key.String() == key {
			return r, true
		}
	}
	return snapshot.CounterRow{}, false
}

func gauge(s *snapshot.Snapshot, key string) (float64, bool) {
	for _, r := range s.Gauges {
		if r.Key.String() == key {
			return r.Value, true
		}
	}
	return 0, false
}
