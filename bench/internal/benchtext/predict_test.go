package benchtext

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/bench/sim"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestPredictionText(t *testing.T) {
	p, err := newPrediction(sim.Comparison{
		Calibration: sim.Calibration{
			Machine:  sim.Machine{Add: 3, Transfer: 60, Cross: 60, Sockets: 1},
			Transfer: sim.Spread{Median: 60, Low: 50, High: 90},
			PickCost: [...]float64{sim.PerP: 6, sim.PerGoroutine: 5, sim.Random: 15},
		},
		Cells: []sim.Cell{
			{Workers: 1, Stripes: 1, Lines: 1, Rounds: 31, Measured: sim.Spread{Median: 3, Low: 2.9, High: 3.25}, Predicted: 3, Ratio: 1},
			{Workers: 2, Stripes: 8, Pick: sim.Random, Lines: 8, Rounds: 30, Measured: sim.Spread{Median: 60, Low: 50, High: 70}, Predicted: 48, Ratio: 0.8},
		},
	})
	require.NoError(t, err)
	p.Go, p.Platform, p.Processors = "go1.26", "linux/amd64", 2
	var b bytes.Buffer
	require.NoError(t, p.WriteText(&b))
	if *update {
		require.NoError(t, os.WriteFile("testdata/predict.txt", b.Bytes(), 0o644))
	}
	want, err := os.ReadFile("testdata/predict.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
	_, err = newPrediction(sim.Comparison{})
	assert.ErrorIs(t, err, sim.ErrConfig)
}
