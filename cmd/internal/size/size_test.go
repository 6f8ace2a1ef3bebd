package size

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/stripe"
)

var update = flag.Bool("update", false, "write golden files anew")

// costs are of no machine in particular; no test measures.
var costs = Costs{Ceiling: 60e6, Line: 40, Processors: 64, LineBytes: 64}

func mustPlan(t *testing.T, a Ask, c Costs) *Plan {
	t.Helper()
	p, err := New(a, c)
	require.NoError(t, err)
	return p
}

func golden(t *testing.T, name string, write func(*bytes.Buffer) error) {
	t.Helper()
	var got bytes.Buffer
	require.NoError(t, write(&got))
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String(), name)
}

func TestGolden(t *testing.T) {
	few := costs
	few.Processors = 2
	for name, c := range map[string]struct {
		ask   Ask
		costs Costs
	}{
		"atomic":  {Ask{Kind: Total, Peak: 30e6, Reads: 1, Series: 1}, costs},
		"stripes": {Ask{Kind: Total, Peak: 1e9, Reads: 1e5, Fresh: 100 * time.Millisecond, Error: 0.01, Series: 10_000}, costs},
		"fresh":   {Ask{Kind: Total, Peak: 1e9, Reads: 1e5, Series: 1}, costs},
		"beyond":  {Ask{Kind: Total, Peak: 1e9, Reads: 1, Series: 1}, few},
		"uniques": {Ask{Kind: Uniques, Peak: 1e6, Reads: 1e4, Fresh: time.Second, Error: 0.01, Series: 10_000}, costs},
		"exact":   {Ask{Kind: Uniques, Peak: 1e6, Reads: 1, Series: 1}, costs},
		"windows": {Ask{Kind: Windows, Peak: 1e9, Reads: 10, Error: 0.01, Series: 1000, Window: time.Hour}, costs},
	} {
		p := mustPlan(t, c.ask, c.costs)
		golden(t, name+".txt", func(b *bytes.Buffer) error { return p.WriteText(b) })
	}
	p := mustPlan(t, Ask{Kind: Total, Peak: 1e9, Reads: 1e5, Series: 1}, costs)
	golden(t, "fresh.json", func(b *bytes.Buffer) error {
		enc := json.NewEncoder(b)
		enc.SetIndent("", "  ")
		return enc.Encode(p)
	})
}

// Whatever is asked, there is an error or a plan whose numbers are numbers and
// whose table fits a screen.
func TestAnything(t *testing.T) {
	numbers := []float64{
		0, -1, 1, 0.5, 1e-300, 59e6, 61e6, 1e9, 1e18, math.MaxFloat64,
		math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64,
	}
	times := []time.Duration{0, -1, 1, time.Millisecond, time.Hour, math.MaxInt64}
	plans := 0
	try := func(a Ask, c Costs) {
		p, err := New(a, c)
		if err != nil {
			require.True(t, errors.Is(err, ErrAsk) || errors.Is(err, stripe.ErrRate), "%v", err)
			return
		}
		plans++
		var text bytes.Buffer
		require.NoError(t, p.WriteText(&text))
		require.NotRegexp(t, `NaN|Inf|%!`, text.String(), "%+v", a)
		for line := range strings.Lines(text.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 140, "%s", line)
		}
		_, err = json.Marshal(p)
		require.NoError(t, err, "%+v", a)
	}
	for _, kind := range []string{Total, Uniques, Windows, "", "totals"} {
		base := Ask{Kind: kind, Peak: 1e8, Reads: 1, Series: 10, Window: time.Hour}
		for _, n := range numbers {
			for _, set := range []func(*Ask, *Costs){
				func(a *Ask, _ *Costs) { a.Peak = n },
				func(a *Ask, _ *Costs) { a.Reads = n },
				func(a *Ask, _ *Costs) { a.Error = n },
				func(_ *Ask, c *Costs) { c.Ceiling = n },
				func(_ *Ask, c *Costs) { c.Line = n },
			} {
				a, c := base, costs
				set(&a, &c)
				try(a, c)
			}
		}
		for _, d := range times {
			for _, n := range []int64{-1, 0, 1, 1e9, math.MaxInt64} {
				a, c := base, costs
				a.Fresh, a.Window, a.Series = d, d, n
				try(a, c)
				c.Processors = int(min(n, math.MaxInt32))
				try(base, c)
			}
		}
	}
	assert.Greater(t, plans, 50)
}

// N is what package stripe recommends, an atomic is enough exactly if it is 1,
// and N stripes take the peak.
func TestStripes(t *testing.T) {
	for peak := 1.0; peak < 1e12; peak *= 3 {
		p := mustPlan(t, Ask{Kind: Total, Peak: peak, Series: 1}, costs)
		want, err := stripe.Recommend(peak, costs.Ceiling)
		require.NoError(t, err)
		assert.Equal(t, want, p.Stripes)
		assert.Equal(t, want == 1, p.OneAtomic)
		assert.LessOrEqual(t, p.Load, 1.0)
		assert.Equal(t, p.OneAtomic, peak <= costs.Ceiling)
	}
}

// More is never cheaper.
func TestMonotone(t *testing.T) {
	before := new(Plan)
	for series := int64(1); series < 1e9; series *= 7 {
		p := mustPlan(t, Ask{Kind: Windows, Peak: 1e9, Reads: 5, Series: series, Window: time.Hour}, costs)
		assert.Greater(t, p.Memory.All, before.Memory.All)
		assert.Greater(t, p.Memory.AllHot, p.Memory.All-1)
		before = p
	}
	before = nil
	for e := 0.2; e > 0.003; e /= 2 {
		p := mustPlan(t, Ask{Kind: Uniques, Peak: 1, Error: e, Series: 1}, costs)
		assert.LessOrEqual(t, p.Sketch.Error, e)
		assert.True(t, p.Sketch.Precision == 4 || sketchError(p.Sketch.Precision-1) > e)
		assert.True(t, before == nil || p.Memory.All > before.Memory.All)
		before = p
	}
	_, err := New(Ask{Kind: Uniques, Peak: 1, Error: 1e-6, Series: 1}, costs)
	assert.ErrorIs(t, err, ErrAsk)
}

// A measurement gives costs that a plan can be made from. How large they are is
// no matter of a test.
func TestMeasure(t *testing.T) {
	c := Measure(Costs{Processors: 3})
	assert.Equal(t, 3, c.Processors)
	require.NoError(t, c.check())
	assert.Equal(t, costs, Measure(costs))
}
