package sim_test

import (
	"fmt"
	"log"

	"github.com/hotcount/hotcount/bench/sim"
)

// What one atomic and one stripe for each core take on machines of more and more
// cores. It is a simulation, not a measurement.
func Example() {
	machine := sim.Machine{Add: 5, Transfer: 60} // nanoseconds
	for _, workers := range []int{1, 4, 64} {
		for _, pick := range []sim.Pick{sim.OneAtomic, sim.PerP} {
			r, err := sim.Run(sim.Config{Machine: machine, Workers: workers, Pick: pick, PickCost: 5})
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%d cores, %v: %.0f million adds per second\n", workers, pick, r.PerSecond()/1e6)
		}
	}
	// Output:
	// 1 cores, one atomic: 100 million adds per second
	// 1 cores, PerP: 100 million adds per second
	// 4 cores, one atomic: 34 million adds per second
	// 4 cores, PerP: 400 million adds per second
	// 64 cores, one atomic: 34 million adds per second
	// 64 cores, PerP: 6401 million adds per second
}

// A model from published figures beside the figures that it was not made from.
func ExampleAllPublished() {
	for _, p := range sim.AllPublished()[:1] {
		for _, point := range p.Points[:3] {
			r, err := sim.Run(point.Config)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%d workers, %v: published %.0f ns an add, simulated %.0f\n",
				point.Config.Workers, point.Config.Pick, point.Nanos, r.NanosPerAdd())
		}
	}
	// Output:
	// 1 workers, one atomic: published 14 ns an add, simulated 14
	// 4 workers, one atomic: published 93 ns an add, simulated 93
	// 24 workers, one atomic: published 487 ns an add, simulated 559
}
