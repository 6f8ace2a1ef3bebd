package hotcount

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot/filesink"
	"github.com/hotcount/hotcount/window"
)

// run starts an engine on a directory, lets f use it, and closes it.
func run(t *testing.T, o Options, f func(e *Engine)) {
	e, err := New(o)
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close(context.Background())) }()
	f(e)
}

func totals(e *Engine) map[string]int64 {
	sums := map[string]int64{}
	for k, n := range e.Totals() {
		if _, twice := sums[k.String()]; twice {
			panic("two totals for " + k.String())
		}
		sums[k.String()] = n
	}
	return sums
}

// After any number of restarts the totals are the sums over all runs, asked for
// in this run or not, overflow and retired series included.
func TestTotalsSpanRestarts(t *testing.T) {
	o := Options{Dir: t.TempDir(), Limits: Limits{FamilySeries: 2}}
	want := map[string]int64{}
	const runs = 4
	for i := range runs {
		run(t, o, func(e *Engine) {
			assert.Equal(t, i, e.Restored().Runs)
			assert.Equal(t, len(want), e.Restored().Series)
			assert.Equal(t, i == 0, e.Restored().Taken.IsZero())
			assert.Equal(t, want, totals(e), "before any series is asked for")

			add := func(c *Counter, n int64) {
				c.Add(n)
				want[c.Key().String()] += n
			}
			if i != 1 { // left alone for a run
				add(e.Counter("jobs_total"), int64(i+1))
			}
			for p := range 3 {
				add(e.Counter("views_total", "post", fmt.Sprint(p)), 10)
			}
			assert.Equal(t, want, totals(e))
			if i != 1 {
				assert.Equal(t, want["jobs_total"], e.Counter("jobs_total").Value())
			}
		})
	}
	assert.EqualValues(t, runs*10, want[`views_total{hotcount_overflow="true"}`])
}

// What a series counted before it was retired is in no total of its run, and in
// those of the runs after it.
func TestRetiredCountsComeBackWithARestart(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	run(t, o, func(e *Engine) {
		c := e.Counter("jobs_total")
		c.Add(5)
		c.Delete()
		for range 3 {
			require.NoError(t, e.Flush(t.Context()))
		}
		assert.Empty(t, totals(e))
		c.Add(2)
		require.NoError(t, e.Flush(t.Context()))
		assert.Equal(t, map[string]int64{"jobs_total": 2}, totals(e))
	})
	run(t, o, func(e *Engine) {
		assert.Equal(t, map[string]int64{"jobs_total": 7}, totals(e))
		assert.EqualValues(t, 7, e.Counter("jobs_total").Value())
	})
}

// A sink gets each run's rows under the run's own id, and so the sum is right
// though Value spans them all.
func TestSinksGetEachRunOnce(t *testing.T) {
	l, dir := newLedger(t), t.TempDir()
	for range 3 {
		run(t, Options{Dir: dir, Sinks: []export.Sink{l}}, func(e *Engine) {
			e.Counter("jobs_total").Add(7)
		})
	}
	assert.Equal(t, map[string]int64{"jobs_total": 21}, l.totals())
	assert.Equal(t, 3, l.rowsOf("jobs_total"))
}

func TestTotalsStopWhenAsked(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	run(t, o, func(e *Engine) { e.Counter("old_total").Inc() })
	run(t, o, func(e *Engine) {
		e.Counter("new_total").Inc()
		for want := range 3 {
			n := 0
			for range e.Totals() {
				if n++; n > want {
					break
				}
			}
			assert.Equal(t, min(want+1, 2), n)
		}
	})
}

func TestUniquesSpanRestarts(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	seen := map[string]bool{}
	for i := range 3 {
		run(t, o, func(e *Engine) {
			u := e.Uniques("visitors", "site", "a")
			for n := range 100 { // half of them known from the run before
				user := fmt.Sprint(i*50 + n)
				u.AddString(user)
				seen[user] = true
			}
			assert.EqualValues(t, len(seen), u.Estimate().Count)
		})
	}
}

// Sketches that hash differently do not merge. That is logged, and the old one
// is still there for a run that hashes as before.
func TestUniquesOfAnotherSchemeAreKept(t *testing.T) {
	dir := t.TempDir()
	seeded := hll.Options{Seed: 42}
	run(t, Options{Dir: dir, Uniques: seeded}, func(e *Engine) {
		e.Uniques("visitors").AddString("a")
		e.Uniques("visitors").AddString("b")
	})
	var log bytes.Buffer
	run(t, Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(e *Engine) {
		e.Uniques("visitors").AddString("c")
		assert.EqualValues(t, 1, e.Uniques("visitors").Estimate().Count)
	})
	assert.Contains(t, log.String(), "series=visitors")
	assert.Contains(t, log.String(), hll.ErrScheme.Error())
	run(t, Options{Dir: dir, Uniques: seeded}, func(e *Engine) {
		assert.EqualValues(t, 2, e.Uniques("visitors").Estimate().Count)
	})
}

// A name that has become another kind keeps its old totals.
func TestKindMayChangeBetweenRuns(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	run(t, o, func(e *Engine) { e.Counter("visitors").Add(3) })
	run(t, o, func(e *Engine) {
		e.Uniques("visitors").AddString("a")
		assert.Equal(t, map[string]int64{"visitors": 3}, totals(e))
	})
	run(t, o, func(e *Engine) {
		assert.EqualValues(t, 3, e.Counter("visitors").Value())
	})
}

func TestDirIsTakenOnce(t *testing.T) {
	dir := t.TempDir()
	newEngine(t, Options{Dir: dir})
	_, err := New(Options{Dir: dir})
	assert.ErrorContains(t, err, "hotcount: ")
}

// A countingHandler counts what is logged, each record in a series of its own.
type countingHandler struct {
	slog.Handler
	engine *Engine // nil while New runs
	logged int
}

func (h *countingHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *countingHandler) Handle(context.Context, slog.Record) error {
	if h.engine != nil {
		h.engine.Counter("log_lines_total", "n", fmt.Sprint(h.logged)).Inc()
		h.logged++
	}
	return nil
}

// A handler may count what it logs in the engine: no lock is held meanwhile.
// The engine's hash puts all series behind the same lock.
func TestLoggerMayCount(t *testing.T) {
	dir := t.TempDir()
	run(t, Options{Dir: dir}, func(e *Engine) {
		e.Uniques("visitors").AddString("a")
		u, err := e.UniquesWindow("recent_visitors", window.UniquesOptions{})
		require.NoError(t, err)
		u.AddString("a")
	})
	h := &countingHandler{Handler: slog.DiscardHandler}
	e, err := New(Options{Dir: dir, Uniques: hll.Options{Seed: 1}, Logger: slog.New(h)})
	require.NoError(t, err)
	collide(e)
	h.engine = e
	_, err = e.WindowVec(e.CounterVec("log_lines_total", "n"), window.Options{})
	require.NoError(t, err)

	e.Uniques("visitors")
	assert.Equal(t, 1, h.logged, "the sketch has another scheme")
	_, err = e.UniquesWindow("recent_visitors", window.UniquesOptions{})
	require.NoError(t, err)
	assert.Equal(t, 2, h.logged)
	require.NoError(t, e.Close(t.Context()))
}

// TestStartOver: damage is an error that says what to do, and counting goes on
// without the damaged files only when told so, which keeps them.
func TestStartOver(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, Options{Dir: dir})
	e.Counter("views_total").Add(5)
	require.NoError(t, e.Close(t.Context()))
	files, err := filepath.Glob(filepath.Join(dir, "*.hcs"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		require.NoError(t, os.WriteFile(f, []byte("damaged"), 0o600))
	}

	_, err = New(Options{Dir: dir})
	require.ErrorIs(t, err, filesink.ErrUnreadable)
	require.ErrorContains(t, err, "StartOver")

	e = newEngine(t, Options{Dir: dir, StartOver: true})
	assert.Zero(t, e.Counter("views_total").Value())
	e.Counter("views_total").Add(2)
	require.NoError(t, e.Close(t.Context()))
	kept, err := filepath.Glob(filepath.Join(dir, "*.damaged"))
	require.NoError(t, err)
	assert.Len(t, kept, len(files))

	e = newEngine(t, Options{Dir: dir})
	assert.EqualValues(t, 2, e.Counter("views_total").Value())
	require.NoError(t, e.Close(t.Context()))
}
