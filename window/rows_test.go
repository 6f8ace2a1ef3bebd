package window

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestart counts, stops for 20 minutes, and goes on in a new ring on a new
// sampler, as a process that restarts does.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(oracle)
		first := NewSampler(SamplerOptions{})
		w := newRing(t, o, Options{Sampler: first})
		for range 30 {
			pass(time.Minute - 1)
			o.add(1000)
			pass(1)
		}
		before := w.Last(time.Hour)
		rows := w.AppendRows(nil)
		stopped := time.Now()
		first.Close()

		const down = 20*time.Minute + time.Second/3
		pass(down)
		second := NewSampler(SamplerOptions{})
		defer second.Close()
		w = newRing(t, o, Options{Sampler: second}) // o has the restored total
		require.NoError(t, w.Restore(rows))

		span := w.Last(time.Hour)
		assert.Equal(t, before.Count, span.Count)
		assert.Equal(t, before.Covered, span.Covered)
		assert.Equal(t, down, span.Gap)
		assert.InDelta(t, 1000.0/60, w.Rates().M5, 1000.0/60, "the restored total is no burst")
		assert.Zero(t, w.Last(time.Second).Count)
		assert.Equal(t, int64(30_000), w.Stats().Added)
		assert.Equal(t, ofEarlierRun(rows), w.AppendRows(nil)[:len(rows)])

		for range 10 {
			pass(time.Minute)
			o.add(1)
		}
		span = w.Last(time.Hour)
		assert.Equal(t, o.between(time.Now().Add(-span.Covered-span.Gap), time.Now()), span.Count)
		assert.Equal(t, 40*time.Minute, span.Covered)
		assert.Equal(t, down, span.Gap)
		assert.Equal(t, int64(10), w.Last(10*time.Minute).Count)
		gap := time.Duration(0)
		for _, b := range w.BucketsOf(time.Minute) {
			gap += b.Gap
			if b.Covered > 0 {
				assert.Equal(t, o.between(b.Start, b.Start.Add(b.Covered+b.Gap)), b.Count, "bucket at %v", b.Start)
			}
			if b.Start.After(stopped) && b.Start.Before(stopped.Add(down)) {
				assert.Zero(t, b.Count)
				assert.NotZero(t, b.Gap)
			}
		}
		assert.Equal(t, down, gap)

		// A second restart keeps the first gap.
		rows = w.AppendRows(nil)
		pass(time.Minute)
		require.NoError(t, w.Restore(rows))
		span = w.Last(2 * time.Hour)
		assert.Equal(t, 40*time.Minute, span.Covered)
		assert.Equal(t, down+time.Minute, span.Gap)
	})
}

// ofEarlierRun returns the rows as the next run has them.
func ofEarlierRun(rows []Row) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Earlier = true
	}
	return rows
}

// TestRestoreLoadsTotalAfterNew restores the total after the ring was made.
func TestRestoreLoadsTotalAfterNew(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		pass(time.Hour)
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		o.add(1_000_000)
		require.NoError(t, w.Restore([]Row{{Resolution: time.Second, Start: time.Now().Add(-10 * time.Second).UnixNano(), Width: time.Second, Count: 7}}))
		o.add(1)
		pass(time.Second)
		assert.Equal(t, Span{8, 2 * time.Second, 9 * time.Second}, w.Last(time.Minute))
		assert.Equal(t, int64(8), w.Stats().Added)
	})
}

// TestRestoreAfterClockSetBack restores rows from what is now the future, as
// if the clock had been set back while the process was down.
func TestRestoreAfterClockSetBack(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		pass(time.Hour)
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		for range 30 {
			o.add(1)
			pass(time.Second)
		}
		rows := w.AppendRows(nil)
		c.set(-10 * time.Minute)
		require.NoError(t, w.Restore(rows))
		assert.Equal(t, int64(30), w.Last(time.Minute).Count)
		assert.Equal(t, 30*time.Second, w.Last(time.Minute).Covered)
	})
}

// TestRestoreAfterJump restores rows that overlap, because the clock was set
// back between them.
func TestRestoreAfterJump(t *testing.T) {
	bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
		pass(time.Hour)
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 100))
		for i := range 40 {
			if i == 20 {
				c.set(-7 * time.Second)
			}
			o.add(1)
			pass(time.Second)
		}
		before := w.Last(time.Minute)
		assert.Equal(t, Span{40, 40 * time.Second, 7 * time.Second}, before)
		require.NoError(t, w.Restore(w.AppendRows(nil)))
		assert.Equal(t, before, w.Last(time.Minute))
		assert.Equal(t, int64(40), sum(w.Buckets()))
	})
}

func TestRestoreRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		o := new(oracle)
		w := newRing(t, o, oneByOne(s, time.Second, 60))
		events, err := NewEvents(EventsOptions{Resolution: time.Second})
		require.NoError(t, err)
		o.add(5)
		pass(3 * time.Second)
		for _, r := range []Row{
			{Resolution: time.Second, Start: -1, Width: time.Second, Count: 1},
			{Resolution: time.Second, Start: 0, Width: 0, Count: 1},
			{Resolution: time.Second, Start: 0, Width: -time.Second, Count: 1},
			{Resolution: time.Second, Start: math.MaxInt64, Width: time.Second, Count: 1},
			{Resolution: time.Second, Start: 0, Width: math.MaxInt64, Count: 1},
			{Resolution: time.Second, Start: 0, Width: math.MinInt64, Count: 1},
		} {
			assert.ErrorIs(t, w.Restore([]Row{r}), ErrRows, "%+v", r)
			if int64(r.Width) != math.MaxInt64 {
				assert.ErrorIs(t, events.Restore([]Row{r}), ErrRows, "%+v", r)
			}
		}
		assert.Equal(t, Span{5, 3 * time.Second, 0}, w.Last(time.Minute))
		require.NoError(t, w.Restore([]Row{{Resolution: time.Hour, Start: 0, Width: time.Second, Count: 1}}), "another resolution")
		assert.Zero(t, w.Last(time.Minute).Count)
	})
}

// TestRoundTrip saves and restores rings with random histories.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(20) {
		bubble(t, func(t *testing.T, c *testClock, s *Sampler) {
			rng := rand.New(rand.NewPCG(seed, 2))
			pass(24 * time.Hour)
			o := new(oracle)
			w := newRing(t, o, Options{Resolution: time.Second, Buckets: 300, Coarser: []Rung{{time.Minute, 10}}, Sampler: s})
			for range 200 {
				if rng.IntN(2) == 0 {
					o.add(rng.Int64N(10))
				}
				pass(time.Duration(rng.Int64N(int64(2 * time.Second))))
				if rng.IntN(50) == 0 {
					rows := w.AppendRows(nil)
					pass(time.Duration(rng.Int64N(int64(time.Minute))))
					require.NoError(t, w.Restore(rows))
				}
			}
			span := w.Last(200 * time.Second)
			require.NoError(t, w.Restore(w.AppendRows(nil)))
			require.Equal(t, span, w.Last(200*time.Second))
			rows := w.AppendRows(nil)
			require.NoError(t, w.Restore(rows))
			require.Equal(t, ofEarlierRun(rows), w.AppendRows(nil))
		})
	}
}

// decodeRows makes rows of any bytes.
func decodeRows(b []byte) (rows []Row) {
	for len(b) >= 25 {
		rows = append(rows, Row{
			Resolution: []time.Duration{time.Second, time.Minute}[b[0]%2],
			Start:      int64(binary.LittleEndian.Uint64(b[1:])),
			Width:      time.Duration(binary.LittleEndian.Uint64(b[9:])),
			Count:      int64(binary.LittleEndian.Uint64(b[17:])),
		})
		b = b[25:]
	}
	return rows
}

func encodeRows(rows []Row) (b []byte) {
	for _, r := range rows {
		b = append(b, byte(r.Resolution/time.Minute))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Start))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Width))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Count))
	}
	return b
}

// FuzzRestore gives windows rows from anywhere. A window refuses them and stays
// as it was, or accounts for all of them.
func FuzzRestore(f *testing.F) {
	const now = int64(1_780_000_000) * int64(time.Second)
	f.Add([]byte{})
	f.Add(encodeRows([]Row{{Resolution: time.Second, Start: now - 5e9, Width: 1e9, Count: 3}, {Resolution: time.Second, Start: now - 4e9, Width: 1e9, Count: 4}}))
	f.Add(encodeRows([]Row{{Resolution: time.Second, Start: now - 5e9, Width: 1e9, Count: 3}, {Resolution: time.Minute, Start: now - 60e9, Width: 60e9, Count: -4}}))
	f.Add(encodeRows([]Row{{Resolution: time.Second, Start: now + 5e9, Width: 1e18, Count: 3}, {Resolution: time.Second, Start: 0, Width: 1, Count: math.MaxInt64}}))
	f.Add(encodeRows([]Row{{Resolution: time.Second, Start: -5, Width: 1e9, Count: 3}, {Resolution: time.Second, Start: 0, Width: -1, Count: 4}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows := decodeRows(b)
		s := &Sampler{clock: func() (time.Time, time.Duration) { return time.Unix(0, now), time.Second }}
		s.line, s.seen = newTimeline(now, int64(time.Second)), int64(time.Second)
		var fine int64
		for _, r := range rows {
			if r.Resolution == time.Second {
				fine += r.Count
			}
		}
		e, err := NewEvents(EventsOptions{Resolution: time.Second, Clock: s.clock})
		require.NoError(t, err)
		if err := e.Restore(rows); err != nil {
			require.ErrorIs(t, err, ErrRows)
			require.Zero(t, e.Stats())
		} else {
			st := e.Stats()
			require.Equal(t, fine, st.Added+st.Late+st.Future)
			require.Equal(t, st.Added, st.Evicted+sum(e.Buckets()))
		}

		o := new(oracle)
		o.total.Store(100)
		w, err := New(o, Options{Resolution: time.Second, Buckets: 8, Coarser: []Rung{{time.Minute, 8}}, Sampler: s})
		require.NoError(t, err)
		o.total.Add(11)
		if err := w.Restore(rows); err != nil {
			require.ErrorIs(t, err, ErrRows)
			require.Equal(t, int64(11), w.Stats().Added)
			return
		}
		st := w.Stats()
		require.Equal(t, fine, st.Added)
		require.Equal(t, fine, st.Evicted+sum(w.Buckets()))
		for _, d := range []time.Duration{0, 1, time.Minute, math.MaxInt64} {
			span := w.Last(d)
			require.GreaterOrEqual(t, span.Covered, time.Duration(0))
			require.GreaterOrEqual(t, span.Gap, time.Duration(0))
		}
		require.NoError(t, w.Restore(w.AppendRows(nil)))
	})
}
