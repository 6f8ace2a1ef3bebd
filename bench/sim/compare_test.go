package sim

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Compare measures every layout once for each number of workers, and its figures
// are positive and in order. How large they are is no matter of a test.
func TestCompare(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	c, err := Compare(t.Context(), Options{Rounds: 2, Spell: 100 * time.Microsecond})
	if errors.Is(err, ErrBusy) {
		t.Log("the machine is busy")
		return
	}
	require.NoError(t, err)
	assert.Equal(t, 2, runtime.GOMAXPROCS(0))
	assert.Len(t, c.Cells, 2*(1+3*4))
	assert.Positive(t, c.Calibration.Machine.Add)
	for _, cell := range c.Cells {
		assert.Positive(t, cell.Measured.Low, "%+v", cell)
		assert.LessOrEqual(t, cell.Measured.Low, cell.Measured.Median, "%+v", cell)
		assert.LessOrEqual(t, cell.Measured.Median, cell.Measured.High, "%+v", cell)
		assert.Positive(t, cell.Predicted, "%+v", cell)
		assert.Positive(t, cell.Ratio, "%+v", cell)
		assert.LessOrEqual(t, cell.Lines, cell.Stripes, "%+v", cell)
		assert.LessOrEqual(t, cell.Rounds, 2, "%+v", cell)
	}
	worst := c.Worst()
	for _, cell := range c.Cells {
		assert.LessOrEqual(t, math.Abs(math.Log(cell.Ratio)), math.Abs(math.Log(worst.Ratio))+1e-9)
	}
}

func TestCompareRefuses(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, o := range []Options{{Rounds: -1}, {Spell: -1}, {Cross: math.NaN()}, {Cross: -5}, {Sockets: -1}} {
		_, err := Compare(t.Context(), o)
		assert.ErrorIs(t, err, ErrConfig, "%+v", o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Compare(ctx, Options{Spell: time.Microsecond})
	assert.ErrorIs(t, err, context.Canceled)
	runtime.GOMAXPROCS(1)
	_, err = Compare(t.Context(), Options{})
	assert.ErrorIs(t, err, ErrProcessors)
}

// Every published figure can be simulated, and what the model was made from
// comes out again.
func TestPublished(t *testing.T) {
	for _, p := range AllPublished() {
		assert.NotEmpty(t, p.Source)
		assert.NotEmpty(t, p.Fit)
		for _, point := range p.Points {
			r := mustRun(t, point.Config)
			if point.Given {
				assert.InEpsilon(t, point.Nanos, r.NanosPerAdd(), 0.02, "%s: %+v", p.Name, point.Config)
			}
			if point.Config.Pick == OneAtomic {
				assert.InEpsilon(t, point.Nanos, r.NanosPerAdd(), 0.2, "%s: %+v", p.Name, point.Config)
			}
		}
	}
}

// A forecast has every layout for every number of cores.
func TestForecast(t *testing.T) {
	c := Calibration{Machine: machine, PickCost: [...]float64{PerP: 7, PerGoroutine: 6, Random: 15}}
	all, err := c.Forecast()
	require.NoError(t, err)
	assert.Len(t, all, len(ForecastWorkers)*len(forecastLayouts))
	for _, f := range all {
		assert.Positive(t, f.Result.PerSecond(), "%+v", f)
	}
	c.Machine.Add = 0
	_, err = c.Forecast()
	assert.ErrorIs(t, err, ErrConfig)
}

func BenchmarkRun(b *testing.B) {
	for _, pick := range []Pick{OneAtomic, PerP, Random} {
		b.Run("pick="+strings.ReplaceAll(pick.String(), " ", "-")+"/workers=192", func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(Config{Machine: machine, Workers: 192, Pick: pick}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
