package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
)

// The model. A modelSource counts up; a modelSink holds the greatest value that
// it has been given and misbehaves at random. All run in a synctest bubble, so
// time is exact and a goroutine left behind fails the test.
//
// Properties:
//  1. Snapshot calls do not overlap, nor do Write calls of one sink.
//  2. A snapshot does not change while a sink has it.
//  3. Acknowledge rises, and never passes what some sink holds.
//  4. Flush returns nil only when every sink holds what had been counted when
//     it was called; else its error names those that do not. So does Close.
//  5. Flush and Close return by their deadline; Close at most 50 ms
//     late, or lastChance after the call.
//  6. A sink that behaves holds a state at most a tenth over Every old,
//     whatever the others do.
//  7. Buffers are at most two more than sinks.
//  8. A prior snapshot is reported handed on once, when every sink holds it.
type model struct {
	t     *testing.T
	rng   *rand.Rand
	sinks []*modelSink

	mu      sync.Mutex
	value   int64
	seq     uint64
	busy    bool
	acked   uint64
	values  map[uint64]int64 // by seq
	buffers map[*snapshot.Snapshot]bool
	handed  map[snapshot.WriterID]int
	open    bool // sinks misbehave no more
}

func newModel(t *testing.T, seed uint64, sinks int) *model {
	m := &model{
		t:       t,
		rng:     rand.New(rand.NewPCG(seed, 0)),
		values:  map[uint64]int64{},
		buffers: map[*snapshot.Snapshot]bool{},
		handed:  map[snapshot.WriterID]int{},
	}
	for i := range sinks {
		m.sinks = append(m.sinks, &modelSink{m: m, healthy: i == 0, prior: map[snapshot.WriterID]bool{}})
	}
	return m
}

const modelRows = 3

var modelWriter = snapshot.WriterID{1}

func (m *model) Snapshot(s *snapshot.Snapshot) {
	m.mu.Lock()
	assert.False(m.t, m.busy, "Snapshot calls overlap")
	m.busy = true
	m.seq++
	m.buffers[s] = true
	assert.LessOrEqual(m.t, len(m.buffers), len(m.sinks)+2)
	s.Writer, s.Seq, s.Taken = modelWriter, m.seq, time.Now()
	for range modelRows {
		s.Counters = append(s.Counters, snapshot.CounterRow{Value: m.value})
	}
	assert.Len(m.t, s.Counters, modelRows)
	m.values[m.seq] = m.value
	m.mu.Unlock()

	time.Sleep(time.Millisecond) // let others overlap if they can

	m.mu.Lock()
	m.busy = false
	m.mu.Unlock()
}

func (m *model) Acknowledge(seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	assert.Greater(m.t, seq, m.acked)
	m.acked = seq
	for _, s := range m.sinks {
		assert.GreaterOrEqual(m.t, s.seq, seq)
	}
}

func (m *model) handedOn(w snapshot.WriterID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handed[w]++
	assert.Equal(m.t, 1, m.handed[w])
	for _, s := range m.sinks {
		assert.True(m.t, s.prior[w])
	}
}

func (m *model) intn(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rng.IntN(n)
}

func (m *model) upTo(d time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Duration(m.rng.Int64N(int64(d)))
}

type modelSink struct {
	m       *model
	healthy bool

	// Under m.mu.
	busy  bool
	seq   uint64
	value int64
	taken time.Time
	prior map[snapshot.WriterID]bool
}

var errModel = errors.New("model sink fails")

func (k *modelSink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	k.m.mu.Lock()
	assert.False(k.m.t, k.busy, "Write calls overlap")
	k.busy = true
	open := k.m.open
	k.m.mu.Unlock()
	defer func() {
		k.m.mu.Lock()
		k.busy = false
		k.m.mu.Unlock()
	}()

	seq, value := s.Seq, int64(0)
	if s.Writer == modelWriter {
		value = s.Counters[0].Value
	}
	err, holds := error(nil), true
	if !k.healthy && !open {
		err, holds = k.misbehave(ctx)
	}
	assert.Equal(k.m.t, seq, s.Seq)
	for _, c := range s.Counters {
		assert.Equal(k.m.t, value, c.Value, "the snapshot was reused")
	}
	k.m.mu.Lock()
	defer k.m.mu.Unlock()
	switch {
	case errors.Is(err, ErrTooLate):
		k.prior[s.Writer] = true // all that it ever will hold
	case !holds:
	case s.Writer != modelWriter:
		k.prior[s.Writer] = true
	case seq > k.seq:
		k.seq, k.value, k.taken = seq, value, s.Taken
	}
	return err
}

// misbehave says what Write returns and whether it has taken effect.
func (k *modelSink) misbehave(ctx context.Context) (err error, holds bool) {
	switch k.m.intn(12) {
	case 0, 1, 2:
		return nil, true
	case 3:
		return errModel, false
	case 4:
		return errModel, true // the reply was lost
	case 5:
		panic("model sink panics")
	case 6, 7: // slow, but heeds its context
		select {
		case <-time.After(k.m.upTo(20 * time.Second)):
			return nil, true
		case <-ctx.Done():
			return ctx.Err(), false
		}
	case 8, 9: // ignores its context
		time.Sleep(k.m.upTo(modelStuck))
		return nil, true
	case 10:
		time.Sleep(k.m.upTo(modelStuck))
		return errModel, false
	default:
		if k.m.intn(10) == 0 {
			return fmt.Errorf("%w: %w", ErrTooLate, errModel), false
		}
		if k.m.intn(3) == 0 {
			return fmt.Errorf("%w: %w", ErrDenied, errModel), false
		}
		return errModel, false
	}
}

func TestExporterAgainstModel(t *testing.T) {
	const seeds = 150
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runModel(t, seed) })
		})
	}
}

const (
	modelEvery = 10 * time.Second
	modelStuck = time.Minute
)

func runModel(t *testing.T, seed uint64) {
	m := newModel(t, seed, 1+int(seed%4))
	o := Options{
		Source:   m,
		Interval: modelEvery,
		Timeout:  5 * time.Second,
		Prior:    []*snapshot.Snapshot{{Writer: snapshot.WriterID{2}, Seq: 7}, {Writer: snapshot.WriterID{3}, Seq: 1}},
		HandedOn: m.handedOn,
		Logger:   slog.New(slog.DiscardHandler),
	}
	for _, s := range m.sinks {
		o.Sinks = append(o.Sinks, s)
	}
	e, err := New(o)
	require.NoError(t, err)
	start := time.Now()

	var flushes sync.WaitGroup
	for range 30 {
		switch m.intn(4) {
		case 0:
			m.checkFlush(e.Flush, 0)
		case 1:
			flushes.Go(func() { m.checkFlush(e.Flush, 0) })
		case 2:
			time.Sleep(m.upTo(30 * time.Second))
		}
		m.mu.Lock()
		m.value++
		m.mu.Unlock()
		if time.Since(start) > 2*modelEvery {
			m.checkFresh()
		}
	}
	if m.intn(4) == 0 {
		m.mu.Lock()
		m.open = true
		m.mu.Unlock()
		time.Sleep(3 * maxBlocked)
		m.checkHanded(e)
	}
	for range 2 {
		flushes.Go(func() { m.checkFlush(e.Close, lastChance) })
	}
	flushes.Wait()
	require.ErrorIs(t, e.Flush(t.Context()), ErrClosed)
	first := e.Close(t.Context())
	require.Equal(t, first, e.Close(t.Context()))
	time.Sleep(modelStuck) // let stuck sinks come back; who then remains is a leak
}

// checkFlush calls Flush or Close, with or without a deadline; it may take least
// in any case.
func (m *model) checkFlush(flush func(context.Context) error, least time.Duration) {
	m.mu.Lock()
	want := m.value
	m.mu.Unlock()
	ctx, limit := m.t.Context(), 5*time.Second
	if m.intn(2) == 0 {
		limit = m.upTo(20 * time.Second)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	start := time.Now()
	err := flush(ctx)
	assert.LessOrEqual(m.t, time.Since(start), max(limit, least)+50*time.Millisecond)

	m.mu.Lock()
	defer m.mu.Unlock()
	if errors.Is(err, ErrClosed) {
		return
	}
	var u *UnflushedError
	if err != nil {
		if !assert.ErrorAs(m.t, err, &u) {
			return
		}
		assert.NotEmpty(m.t, u.Sinks)
		assert.NotEmpty(m.t, err.Error())
	}
	listed := 0
	for i, s := range m.sinks {
		if u != nil && listed < len(u.Sinks) && u.Sinks[listed].Name == modelName(i) {
			listed++
			continue
		}
		assert.GreaterOrEqual(m.t, s.value, want)
	}
	if u != nil {
		assert.Len(m.t, u.Sinks, listed)
	}
}

func modelName(i int) string {
	if i == 0 {
		return "*export.modelSink"
	}
	return fmt.Sprintf("*export.modelSink#%d", i+1)
}

func (m *model) checkFresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
	// A millisecond for the snapshot itself.
	assert.LessOrEqual(m.t, time.Since(m.sinks[0].taken), modelEvery+modelEvery/10+time.Millisecond)
}

// checkHanded runs once all sinks have behaved for long enough.
func (m *model) checkHanded(e *Exporter) {
	for _, s := range e.Stats().Sinks {
		if s.Stopped {
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range []snapshot.WriterID{{2}, {3}} {
		all := true
		for _, s := range m.sinks {
			all = all && s.prior[w]
		}
		if all {
			continue // reported, or refused by a sink first
		}
		assert.Zero(m.t, m.handed[w])
	}
	assert.Equal(m.t, m.value, m.sinks[0].value)
}
