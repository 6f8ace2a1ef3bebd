package fleettest

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// samples is how often each side of a comparison is measured, beside once before
// that does not count. Once shows that it works; results take six.
var samples = flag.Int("samples", 1, "how often each side of a benchmark is measured")

// A side is one of several ways to do the same, which take turns.
type side struct {
	name  string
	rows  int          // that a run writes, 0 if that is not what it is about
	run   func() error // one sample
	turns func() int64 // round trips so far; nil if they are not counted

	// prepare, if not nil, makes run anew for each sample, and what ends it.
	prepare func() (run func() error, end func(), err error)
}

// A sample is what one run took.
type sample struct {
	took  time.Duration
	turns int64
}

// compare runs the sides in turn and reports, for each, the median time of a run
// in ms with its extremes, the rows a second of that and its round trips.
func compare(b *testing.B, sides []side) map[string]time.Duration {
	b.Helper()
	taken := make([][]sample, len(sides))
	for round := range *samples + 1 {
		for i := range sides {
			i := (i + round) % len(sides) // nobody always comes after the same one
			s, err := measure(sides[i])
			require.NoError(b, err, sides[i].name)
			if round > 0 {
				taken[i] = append(taken[i], s)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // says nothing: it is of all sides together
	medians := map[string]time.Duration{}
	for i, s := range sides {
		slices.SortFunc(taken[i], func(x, y sample) int { return int(x.took - y.took) })
		median := taken[i][*samples/2]
		medians[s.name] = median.took
		ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
		b.ReportMetric(ms(median.took), s.name+"-ms")
		line := fmt.Sprintf("%-16s median %8.1f ms, %.1f to %.1f", s.name, ms(median.took), ms(taken[i][0].took), ms(taken[i][*samples-1].took))
		if s.rows > 0 {
			perSecond := float64(s.rows) / median.took.Seconds()
			b.ReportMetric(perSecond, s.name+"-rows/s")
			line += fmt.Sprintf("; %d rows, %.0f rows/s", s.rows, perSecond)
		}
		if s.turns != nil {
			b.ReportMetric(float64(median.turns), s.name+"-trips")
			line += fmt.Sprintf(", %d round trips", median.turns)
		}
		b.Log(line)
	}
	return medians
}

func measure(s side) (sample, error) {
	if s.prepare != nil {
		run, end, err := s.prepare()
		if err != nil {
			return sample{}, err
		}
		defer end()
		s.run = run
	}
	var before int64
	if s.turns != nil {
		before = s.turns()
	}
	began := time.Now()
	err := s.run()
	result := sample{took: time.Since(began)}
	if s.turns != nil {
		result.turns = s.turns() - before
	}
	return result, err
}
