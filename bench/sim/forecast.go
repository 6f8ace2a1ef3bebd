package sim

import (
	"cmp"
	"slices"
)

// ForecastWorkers are the numbers of cores that Forecast goes through.
var ForecastWorkers = []int{1, 2, 4, 8, 16, 32, 64, 96, 128, 192}

// A Forecast is one line of what a Calibration says about larger machines.
type Forecast struct {
	Workers int
	Stripes int // 0 is one for each worker
	Pick    Pick
	Result  Result
}

// forecastLayouts are the layouts that are of interest: what a program has
// without this package, a few stripes, and one for each core under each pick.
var forecastLayouts = []Config{
	{Pick: OneAtomic, Stripes: 1},
	{Pick: PerP, Stripes: 1},
	{Pick: PerP, Stripes: 8},
	{Pick: PerP},
	{Pick: PerGoroutine},
	{Pick: Random, Stripes: 8},
	{Pick: Random},
}

// Forecast simulates the layouts of interest on machines of 1 to 192 cores that
// are as c in all else. Nothing of it is measured.
func (c Calibration) Forecast() ([]Forecast, error) {
	var all []Forecast
	for _, workers := range ForecastWorkers {
		for _, cfg := range forecastLayouts {
			cfg.Machine = c.Machine
			cfg.Workers = workers
			cfg.PickCost = c.PickCost[cfg.Pick]
			r, err := typical(cfg)
			if err != nil {
				return nil, err
			}
			all = append(all, Forecast{workers, cfg.Stripes, cfg.Pick, r})
		}
	}
	return all, nil
}

// draws is how many runs of a layout that depends on luck one is chosen from.
const draws = 5

// typical returns the run of the median speed, among several draws of lines if c
// draws them only at the start.
func typical(c Config) (Result, error) {
	n := 1
	if c.Pick == PerGoroutine {
		n = draws
	}
	runs := make([]Result, n)
	for i := range runs {
		var err error
		c.Seed = uint64(i)
		if runs[i], err = Run(c); err != nil {
			return Result{}, err
		}
	}
	slices.SortFunc(runs, func(a, b Result) int { return cmp.Compare(a.PerSecond(), b.PerSecond()) })
	return runs[n/2], nil
}
