package sim

// A Published is what somebody has measured on a machine that is larger than
// most, with a model of that machine.
type Published struct {
	// Name and Source say what was measured and where that is written.
	Name, Source string
	// Fit says which of the points the model was made from, and what was
	// assumed. The other points are predictions.
	Fit    string
	Points []Point
}

// A Point is one published figure.
type Point struct {
	// Config is how the model runs it.
	Config Config
	// Nanos is the figure, as nanoseconds of an add by each worker.
	Nanos float64
	// Given says that the model was made from this point.
	Given bool
}

// Models of the published machines. Where no more than two figures of a machine
// are used, Add and Transfer are not free: Add is taken to be the usual 20 cycles
// of a locked instruction, and Handover + Add is what an add takes by wall time
// where four workers share a line.
const (
	// xeonAdd is 20 cycles of 2.8 GHz.
	xeonAdd = 7
	// xeonWall is 92.9 ns ÷ 4 workers.
	xeonWall = 92.9 / 4
	// gravitonAdd is 12 cycles of 2.5 GHz.
	gravitonAdd = 5
	// gravitonWall is 13.5 ns, which is wall time as published.
	gravitonWall = 13.5
)

// modelOf returns the machine whose contended line takes an add every wall
// nanoseconds.
func modelOf(add, wall float64) Machine {
	return Machine{Add: add, Transfer: (wall - add) / handoverShare}
}

// AllPublished returns the published figures that the model is shown beside.
func AllPublished() []Published {
	xeon := modelOf(xeonAdd, xeonWall)
	graviton := modelOf(gravitonAdd, gravitonWall)
	return []Published{
		{
			Name:   "Intel Xeon 2.8 GHz, 24 vCPUs (GCE n2-custom-24)",
			Source: "github.com/cockroachdb/crlib, crsync/counters_test.go, columns simple, randshards and crsync-cr",
			Fit:    "1 and 4 workers on one atomic, and 1 worker of each other column; a locked add is assumed to take 7 ns of the 14.1",
			Points: []Point{
				xeon.point(OneAtomic, 1, 1, 14.1, 14.1, true),
				xeon.point(OneAtomic, 4, 1, 14.1, 92.9, true),
				xeon.point(OneAtomic, 24, 1, 14.1, 487, false),
				xeon.point(PerP, 1, 24, 13.5, 13.5, true),
				xeon.point(PerP, 4, 24, 13.5, 13.3, false),
				xeon.point(PerP, 24, 24, 13.5, 57, false),
				xeon.point(Random, 1, 96, 21, 21, true),
				xeon.point(Random, 4, 96, 21, 50.1, false),
				xeon.point(Random, 24, 96, 21, 178, false),
			},
		},
		{
			Name:   "96 cores",
			Source: "github.com/cespare/percpu, README.md at 81ec91f: 49 M and 7.1 G adds per second",
			Fit:    "nothing for one atomic: the model of the 24 vCPUs above, unchanged; 13.5 ns of a per-CPU add, so that its row shows no more than that the model scales it",
			Points: []Point{
				xeon.point(OneAtomic, 96, 1, 14.1, 96/49e6*1e9, false),
				xeon.point(PerP, 96, 96, 13.5, 96/7.1e9*1e9, true),
			},
		},
		{
			Name:   "AWS Graviton2, 64 cores (c6g.metal)",
			Source: "github.com/puzpuzpuz/xsync, BENCHMARKS.md: AtomicInt64 and Counter of v2.3.1, wall time × workers",
			Fit:    "1 and 4 workers on one atomic, 1 worker on pool tokens; a locked add is assumed to take 5 ns of the 7.6",
			Points: []Point{
				graviton.point(OneAtomic, 1, 1, 7.6, 7.6, true),
				graviton.point(OneAtomic, 2, 1, 7.6, 12.6*2, false),
				graviton.point(OneAtomic, 4, 1, 7.6, 13.5*4, true),
				graviton.point(OneAtomic, 16, 1, 7.6, 12.8*16, false),
				graviton.point(OneAtomic, 64, 1, 7.6, 12.9*64, false),
				graviton.point(PoolToken, 1, 1, 27.3, 27.3, true),
				graviton.point(PoolToken, 2, 2, 27.3, 27.2*2, false),
				graviton.point(PoolToken, 16, 16, 27.3, 3.7*16, false),
				graviton.point(PoolToken, 64, 64, 27.3, 0.96*64, false),
			},
		},
	}
}

// point is a figure of machine m, where one worker alone takes alone nanoseconds
// for an add.
func (m Machine) point(pick Pick, workers, stripes int, alone, nanos float64, given bool) Point {
	return Point{
		Config: Config{Machine: m, Workers: workers, Stripes: stripes, Pick: pick, PickCost: alone - m.Add},
		Nanos:  nanos,
		Given:  given,
	}
}
