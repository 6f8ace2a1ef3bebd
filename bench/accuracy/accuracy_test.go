package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
)

// A short form of the table, with fixed elements: whoever changes the estimator
// sees here whether it got biased, noisy or overconfident. With so few trials
// the RMSE is known to 1/sqrt(2*trials) only, and the part within the interval
// to sqrt(0.95*0.05/trials); the limits leave room for three times that.
func TestAccuracy(t *testing.T) {
	trials := 300
	if slow || testing.Short() {
		trials = 30
	}
	most := 1.06 * (1 + 3/math.Sqrt(2*float64(trials)))
	inside := 0.94 - 3*math.Sqrt(0.95*0.05/float64(trials))
	for _, c := range []struct {
		options hll.Options
		counts  []uint64
	}{
		{hll.Options{Precision: 14}, []uint64{1, 10, 100, 1000, 5000, 7000, 8000, 20_000}},
		{hll.Options{Precision: 14, Hash: hll.Redis}, []uint64{100, 8000}},
		{hll.Options{Precision: 4}, []uint64{100, 10_000}},
		{hll.Options{Precision: 8}, []uint64{100, 1000, 10_000}},
		{hll.Options{Precision: 12}, []uint64{700, 800, 2000, 20_000}},
	} {
		t.Run(fmt.Sprintf("p=%d/hash=%v", c.options.Precision, c.options.Hash), func(t *testing.T) {
			rows, err := measure(config{options: c.options, seed: 1, counts: c.counts, trials: trials, budget: 1 << 40})
			require.NoError(t, err)
			for _, r := range rows {
				assert.LessOrEqual(t, r.biasInErrors(), 4.0, "bias of %v at %d", r.bias, r.n)
				assert.LessOrEqual(t, r.rmse, most*denseError(c.options.Precision), "RMSE at %d", r.n)
				assert.GreaterOrEqual(t, r.inside, inside, "truth within the interval at %d", r.n)
				if c.options.Precision == 14 && r.n <= 5000 {
					assert.LessOrEqual(t, r.rmse, 0.0005, "RMSE at %d, while small", r.n)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run([]string{"-trials", "3", "-n", "1,10", "-precision", "4,14", "-hash", "redis"}, &out))
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 2+4+1)
	assert.Equal(t, "| 14 | 10 | 3 | +0.0000 % | 0.0 | 0.0000 ± 0.0000 % | 0.00 | 100.0 % |", lines[5])
	for _, bad := range [][]string{{"-precision", "3"}, {"-n", "many"}, {"-hash", "md5"}, {"-nonsense"}} {
		assert.Error(t, run(bad, &out), "%v", bad)
	}
}
