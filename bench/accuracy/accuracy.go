package main

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hotcount/hotcount/hll"
)

// A trial counts elements that no other trial has. Their names are 16 bytes:
// the seed and the trial, then the number of the element.
type config struct {
	options hll.Options
	seed    uint64
	counts  []uint64 // numbers of elements at which to look, growing
	trials  int      // of each count, unless budget allows fewer
	budget  uint64   // the most elements to add for one count; at least minTrials are made
}

const minTrials = 100

// A row is what trials of one count found.
type row struct {
	n      uint64
	trials int
	bias   float64 // mean of (estimate - n) / n
	rmse   float64 // root of the mean of its square
	stderr float64 // of the bias
	inside float64 // the part of trials whose 2-sigma interval holds n
}

// biasInErrors returns how many standard errors the mean is off the truth, apart
// from the half an element by which a whole number may be off any estimate.
func (r row) biasInErrors() float64 {
	off := max(0, math.Abs(r.bias)-0.5/float64(r.n))
	if off == 0 {
		return 0
	}
	return off / r.stderr
}

// measure looks at each count in fresh trials, so that rows are independent.
func measure(c config) ([]row, error) {
	rows := make([]row, len(c.counts))
	for i, n := range c.counts {
		trials := c.trials
		if most := c.budget / n; uint64(trials) > most {
			trials = max(int(most), min(minTrials, trials))
		}
		estimates, err := estimates(c, uint64(i), n, trials)
		if err != nil {
			return nil, err
		}
		rows[i] = summarize(n, estimates)
	}
	return rows, nil
}

// estimates runs trials on all processors. Results do not depend on how many
// there are.
func estimates(c config, series, n uint64, trials int) ([]hll.Estimate, error) {
	all := make([]hll.Estimate, trials)
	if _, err := hll.New(c.options); err != nil {
		return nil, err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for t := int(next.Add(1)) - 1; t < trials; t = int(next.Add(1)) - 1 {
				s, _ := hll.New(c.options) // checked above
				var name [16]byte
				binary.LittleEndian.PutUint64(name[:], c.seed<<48|series<<40|uint64(t))
				for i := range n {
					binary.LittleEndian.PutUint64(name[8:], i)
					s.Add(name[:])
				}
				all[t] = s.Estimate()
			}
		})
	}
	wg.Wait()
	return all, nil
}

func summarize(n uint64, estimates []hll.Estimate) row {
	r := row{n: n, trials: len(estimates)}
	var sum, squares float64
	for _, e := range estimates {
		off := float64(e.Count)/float64(n) - 1
		sum += off
		squares += off * off
		if e.Low <= n && n <= e.High {
			r.inside++
		}
	}
	trials := float64(len(estimates))
	r.bias = sum / trials
	r.rmse = math.Sqrt(squares / trials)
	r.inside /= trials
	r.stderr = math.Sqrt((squares/trials - r.bias*r.bias) / (trials - 1))
	return r
}

// spread is the standard error of rmse, for estimates that are about normal.
func (r row) spread() float64 { return r.rmse / math.Sqrt(2*float64(r.trials)) }

// denseError is the standard error that is promised of a sketch of precision p.
func denseError(p int) float64 { return hll.UltraLogLog.StandardError(p) }
