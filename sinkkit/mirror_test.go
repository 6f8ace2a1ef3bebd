package sinkkit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

// An engine is a source, with what the exporter has in hand for its sink.
type simEngine struct {
	source *simSource
	sink   *simSink
	s      *snapshot.Snapshot // being written, nil if none is
}

func (e *simEngine) clone() *simEngine {
	return &simEngine{source: e.source.clone(), sink: e.sink.clone()}
}

// export writes the newest snapshot, or the one that failed once more.
func (e *simEngine) export(rng *rand.Rand) error {
	if e.s == nil || rng.IntN(2) == 0 {
		e.s = e.source.snapshot()
	}
	if err := e.sink.write(e.s); err != nil {
		return err
	}
	e.source.acknowledge(e.s.Seq)
	e.s = nil
	return nil
}

// settled exports until a snapshot with everything is held, without faults.
func (e *simEngine) settled(t *testing.T) {
	t.Helper()
	faulty := e.sink.store.faulty
	e.sink.store.faulty = false
	defer func() { e.sink.store.faulty = faulty }()
	e.s = nil
	require.NoError(t, e.export(e.source.rng))
}

// Conservation: whatever is lost, late, repeated or broken off, once a flush
// ends well the store's totals are what was counted.
func TestMirrorConserves(t *testing.T) {
	for _, transactional := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactional=%v", transactional), func(t *testing.T) {
			for seed := range uint64(500) {
				simulate(t, transactional, seed)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// simulate runs engines against one store. Odd seeds have the store go back to
// older states, even ones add up live writers' rows and clone engines: to do
// both loses what was counted after a state that the store went back to under an
// id that it then adds up.
func simulate(t *testing.T, transactional bool, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	keys, truth := simKeys(t), map[string]int64{}
	store := newSimStore(rng)
	engines := []*simEngine{{source: newSimSource(rng), sink: &simSink{store: store, transactional: transactional}}}
	store.locks = transactional
	old := store.clone()
	store.faulty = true
	for range 60 {
		e := engines[rng.IntN(len(engines))]
		e.source.count(keys, truth)
		if rng.IntN(2) == 0 {
			_ = e.export(rng) // a failure is what this is about
		}
		switch n := rng.IntN(30); {
		case seed%2 == 1 && n < 3:
			old = store.clone()
		case seed%2 == 1 && n < 6:
			store.restore(old)
		case seed%2 == 0 && n < 3:
			store.rollUp(e.sink.mirror.Writer())
		case seed%2 == 0 && n < 5 && len(engines) < 4:
			// What only memory holds, a clone counts once more, so there is
			// to be nothing.
			e.settled(t)
			engines = append(engines, e.clone())
		}
	}
	for _, e := range engines {
		e.settled(t)
	}
	for range 3 { // the last of the late ones, and who finds out by them
		for _, late := range store.late {
			late()
		}
		for _, e := range engines {
			e.settled(t)
		}
	}
	got := store.totals()
	for k, want := range truth {
		assert.Equal(t, want, got[k], "%s", k)
	}
	maps.DeleteFunc(got, func(k string, n int64) bool { return n == truth[k] })
	assert.Empty(t, got)
}

func TestMirrorSendsWhatChanged(t *testing.T) {
	keys := simKeys(t)
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1, Counters: []snapshot.CounterRow{{Key: keys[0], Created: 1, Value: 5}, {Key: keys[1], Created: 1, Value: 7}}}
	s.Uniques = []snapshot.UniquesRow{{Key: keys[2], Created: 1, Sketch: []byte("x")}}
	var m Mirror
	send := func() ([]snapshot.CounterRow, []snapshot.UniquesRow) {
		t.Helper()
		m.Follow(s)
		step, err := m.Settle(Standing{Seq: m.acked.seq, Mark: m.acked.mark})
		require.NoError(t, err)
		require.Equal(t, Send, step)
		rows, sketches := m.Pick(s)
		m.Hold(s)
		return rows, sketches
	}
	rows, sketches := send()
	assert.Len(t, rows, 2)
	assert.Len(t, sketches, 1)

	s.Seq++
	rows, sketches = send()
	assert.Empty(t, rows)
	assert.Empty(t, sketches)

	s.Seq++
	s.Final = []snapshot.CounterRow{{Key: keys[0], Created: 1, Value: 6}}
	s.Counters[0] = snapshot.CounterRow{Key: keys[0], Created: 2, Value: 1}
	s.Uniques[0].Sketch = []byte("xy")
	rows, sketches = send()
	assert.Equal(t, []snapshot.CounterRow{{Key: keys[0], Created: 1, Value: 6}, {Key: keys[0], Created: 2, Value: 1}}, rows)
	assert.Len(t, sketches, 1)

	m.Follow(s)
	step, err := m.Settle(Standing{Seq: m.acked.seq, Mark: m.acked.mark})
	require.NoError(t, err)
	assert.Equal(t, Done, step, "the same snapshot again")
}

func TestMirrorOfAnEarlierRun(t *testing.T) {
	keys := simKeys(t)
	last := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 7, Counters: []snapshot.CounterRow{{Key: keys[0], Created: 1, Value: 5}}}
	for _, test := range []struct {
		name  string
		store Standing
		step  Step
		err   error
	}{
		{"never seen", Standing{}, Send, nil},
		{"the store holds an older snapshot", Standing{Seq: 6, Mark: NewMark()}, Send, nil},
		{"and half of a newer one", Standing{Seq: 6, Mark: NewMark(), Pending: NewMark()}, Send, nil},
		{"the store holds it", Standing{Seq: 7, Mark: NewMark()}, Done, nil},
		{"and has added it up", Standing{Seq: 7, Mark: NewMark(), Dead: true}, Done, nil},
		{"the store has added up an older one", Standing{Seq: 6, Mark: NewMark(), Dead: true}, Done, export.ErrTooLate},
		{"the store has added up none", Standing{Pending: NewMark(), Dead: true}, Ask, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m Mirror
			m.Follow(last)
			for range 2 { // the first attempt breaks off
				step, err := m.Settle(test.store)
				require.ErrorIs(t, err, test.err)
				require.Equal(t, test.step, step)
				if step != Send {
					assert.Equal(t, step == Ask, m.Writer() != last.Writer)
					return
				}
				m.Claim()
				rows, _ := m.Pick(last)
				assert.Len(t, rows, 1)
			}
			m.Hold(last)
			step, err := m.Settle(Standing{Seq: 7, Mark: m.acked.mark, Dead: true})
			require.NoError(t, err)
			assert.Equal(t, Done, step)
		})
	}
}

func TestMirrorForgetsFinalRowsInTime(t *testing.T) {
	keys := simKeys(t)
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Seq: 1, Final: []snapshot.CounterRow{{Key: keys[0], Created: 1, Value: 5}}}
	var m Mirror
	for range 2 * remembered {
		m.Follow(s)
		_, err := m.Settle(Standing{Seq: m.acked.seq, Mark: m.acked.mark})
		require.NoError(t, err)
		m.Pick(s)
		m.Hold(s)
		if s.Seq <= remembered {
			require.Len(t, m.counters, 1)
		}
		s.Seq, s.Final = s.Seq+1, nil
	}
	assert.Empty(t, m.counters)
}
