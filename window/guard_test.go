package window

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/stripe"
)

// TestClockIsReadInOnePlace checks that the package asks for the time nowhere
// but in systemClock, so that TestAddsReadNoClock sees every reading.
func TestClockIsReadInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && readsClock(sel) {
				found = append(found, name)
			}
			return true
		})
	}
	assert.Equal(t, []string{"clock.go"}, slices.Compact(found))
}

func readsClock(sel *ast.SelectorExpr) bool {
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name)
}

// TestAddsReadNoClock checks that adding to windows allocates nothing and reads
// no clock.
func TestAddsReadNoClock(t *testing.T) {
	bubble(t, func(t *testing.T, clock *testClock, s *Sampler) {
		c := new(stripe.Counter)
		newRing(t, c, Options{Sampler: s})
		u, err := NewUniques(UniquesOptions{Sampler: s})
		require.NoError(t, err)
		defer u.Close()
		top, err := NewMax(Options{Sampler: s})
		require.NoError(t, err)
		defer top.Close()
		e, err := NewEvents(EventsOptions{Clock: clock.read})
		require.NoError(t, err)
		now, element := time.Now(), []byte("element")
		e.AddAt(now, 1)

		synctest.Wait() // until the sampler has seen the windows
		reads := clock.reads.Load()
		for name, add := range map[string]func(){
			"Counter":           func() { c.Inc() },
			"Uniques.Add":       func() { u.Add(element) },
			"Uniques.AddString": func() { u.AddString("element") },
			"Uniques.AddHash":   func() { u.AddHash(1) },
			"Max.Observe":       func() { top.Observe(1) },
			"Events.AddAt":      func() { e.AddAt(now, 1) },
		} {
			add()
			assert.Zero(t, testing.AllocsPerRun(100, add), name)
		}
		assert.Equal(t, reads, clock.reads.Load())
	})
}

// TestReadsAllocateNothing covers what a dashboard asks for many counters.
func TestReadsAllocateNothing(t *testing.T) {
	bubble(t, func(t *testing.T, _ *testClock, s *Sampler) {
		w := newRing(t, new(stripe.Counter), Options{Sampler: s})
		rows := w.AppendRows(nil)
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			w.Last(time.Minute)
			w.Rates()
			rows = w.AppendRows(rows[:0])
		}))
	})
}
