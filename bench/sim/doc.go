// Package sim predicts how fast a counter is on machines that are not at hand,
// by simulating which core owns which cache line.
//
// What it returns is a simulation, not a measurement, and is to be shown as such.
//
//	r, err := sim.Run(sim.Config{
//		Machine: sim.Machine{Add: 7, Transfer: 40}, // nanoseconds
//		Workers: 64,
//		Pick:    sim.OneAtomic,
//	})
//	fmt.Println(r.PerSecond(), r.NanosPerAdd())
//
// # The model
//
// Workers add to one counter as fast as they can, each on a core of its own. An
// add to a line that the core owns takes Machine.Add, after the Config.PickCost
// that it takes to choose one. An add to another core's line waits for the line:
// the request travels to the owner, who goes on adding until it is there, and the
// line travels back. Together that takes Machine.Transfer, or Cross from another
// socket. Cores that want the same line queue for it, first come, first served.
//
// Three regimes follow from that and are not put in. A line that one core writes
// costs Add. A line that two cores write takes less than one transfer for each
// add, because each makes several while the other's request is on its way. A line
// that many cores write takes an add every Handover + Add, however many there
// are.
//
// # What it leaves out
//
// Hyperthreads, which share a core's cache. Frequencies that fall when all cores
// work. More runnable goroutines than cores. Instructions that overlap with a
// miss, which is why [Compare] measures a transfer as a counting loop sees it.
// Machines that add at the line's home and not at the core, as some ARM systems
// do. Topologies other than equal sockets.
//
// # Calibration
//
// [Compare] measures a locked add and a transfer on this computer, and what each
// pick costs one goroutine alone, and puts what the model makes of them beside
// what is measured. docs/simulation.md has the results.
//
// Runs of equal Configs are equal, on every platform. A run of 192 workers takes
// some 20 ms.
package sim
