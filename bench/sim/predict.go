package sim

import "slices"

// compareAdds is how many adds predict one round of one cell: few, because there
// are as many predictions as there are rounds.
const compareAdds = 4000

// comparison predicts every cell in every round and sums up.
func (s *survey) comparison(o Options) (Comparison, error) {
	result := Comparison{Calibration: s.medians(o), Cells: slices.Clone(s.cells)}
	for i := range result.Cells {
		c := &result.Cells[i]
		c.Lines = mostFrequent(s.samples[i])
		var measured, predicted, ratios []float64
		for round, sample := range s.samples[i] {
			if sample.lines != c.Lines || sample.disturbed || s.models[round].disturbed {
				continue
			}
			ns, err := s.models[round].predict(*c, uint64(round))
			if err != nil {
				return Comparison{}, err
			}
			measured = append(measured, sample.nanos)
			predicted = append(predicted, ns)
			ratios = append(ratios, ns/sample.nanos)
		}
		if len(measured) == 0 {
			return Comparison{}, ErrBusy
		}
		c.Rounds = len(measured)
		c.Measured = spreadOf(measured)
		c.Predicted = spreadOf(predicted).Median
		c.Ratio = spreadOf(ratios).Median
	}
	return result, nil
}

// medians returns the median of every figure of the models.
func (s *survey) medians(o Options) Calibration {
	middle := func(of func(Calibration) float64) Spread {
		var all []float64
		for _, m := range s.models {
			if !m.disturbed {
				all = append(all, of(m.Calibration))
			}
		}
		return spreadOf(all)
	}
	transfer := middle(func(c Calibration) float64 { return c.Machine.Transfer })
	result := Calibration{
		Machine: Machine{
			Add:      middle(func(c Calibration) float64 { return c.Machine.Add }).Median,
			Transfer: transfer.Median,
			Cross:    max(o.Cross, transfer.Median),
			Sockets:  max(o.Sockets, 1),
		},
		Transfer: transfer,
	}
	for pick := range result.PickCost {
		result.PickCost[pick] = middle(func(c Calibration) float64 { return c.PickCost[pick] }).Median
	}
	return result
}

// mostSeeds is how many draws predict looks at for one that gave the workers as
// many lines as the measurement did.
const mostSeeds = 256

// predict returns what c says about a cell, in nanoseconds.
func (c Calibration) predict(cell Cell, seed uint64) (float64, error) {
	cfg := Config{
		Machine:  c.Machine,
		Workers:  cell.Workers,
		Stripes:  cell.Stripes,
		Pick:     cell.Pick,
		PickCost: c.PickCost[cell.Pick],
		Adds:     max(compareAdds, 100*cell.Workers),
		Seed:     seed,
	}
	for range mostSeeds {
		r, err := Run(cfg)
		if err != nil {
			return 0, err
		}
		if cell.Pick != PerGoroutine || r.Used() == cell.Lines {
			return r.NanosPerAdd(), nil
		}
		cfg.Seed++
	}
	r, err := Run(cfg) // luck that the model never has; its mean is the best guess
	return r.NanosPerAdd(), err
}

// mostFrequent returns the number of lines that most samples have.
func mostFrequent(samples []sample) int {
	counts := make(map[int]int)
	for _, s := range samples {
		counts[s.lines]++
	}
	best := 0
	for lines, n := range counts {
		if n > counts[best] || n == counts[best] && lines > best {
			best = lines
		}
	}
	return best
}
