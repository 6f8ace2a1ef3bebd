package bench

import (
	"fmt"
	"math/rand/v2"
)

// Keys says which counter a step is about.
type Keys uint8

const (
	// One counter takes all.
	One Keys = iota
	// Zipf spreads the steps over KeyCount counters, as posts or users are
	// spread: the busiest takes about a sixth, the next half of that, and so on
	// with the power zipfPower of the rank.
	Zipf
	// Uniform spreads them evenly over KeyCount counters.
	Uniform
)

// KeyCount is the number of counters unless there is One.
const KeyCount = 1000

// zipfPower is that of visits to web pages, which measurements put a little
// above 1 (Adamic and Huberman, Zipf's law and the Internet, 2002).
const zipfPower = 1.1

// String returns the name of the choice, as in a Result.
func (k Keys) String() string {
	switch k {
	case One:
		return "one"
	case Zipf:
		return "zipf"
	case Uniform:
		return "uniform"
	}
	return fmt.Sprintf("Keys(%d)", uint8(k))
}

func (k Keys) count() int {
	if k == One {
		return 1
	}
	return KeyCount
}

// scriptLen is how many steps a script has: 8 KiB, which leaves most of a first
// level cache to what is measured.
const scriptLen = 2048

// scripts bounds how many different scripts there are. More goroutines than
// that share them.
const scripts = 64

// A script is what a goroutine does, from the top and again.
type script []Step

// newScripts returns scripts for so many goroutines, the same on each call.
func newScripts(k Keys, readPercent, goroutines int) []script {
	all := make([]script, min(goroutines, scripts))
	for i := range all {
		rng := rand.New(rand.NewPCG(uint64(k)<<32|uint64(readPercent), uint64(i)))
		zipf := rand.NewZipf(rng, zipfPower, 1, KeyCount-1)
		steps := make(script, scriptLen)
		for j := range steps {
			switch k {
			case Zipf:
				steps[j] = AddTo(int(zipf.Uint64()))
			case Uniform:
				steps[j] = AddTo(rng.IntN(KeyCount))
			}
			if rng.IntN(100) < readPercent {
				steps[j] = ReadOf(steps[j].Key())
			}
		}
		all[i] = steps
	}
	return all
}

// run makes the steps from one number up to another, where the script begins
// again after its end.
func (s script) run(from, to int, c interface{ Run([]Step) }) {
	for from < to {
		at := from % len(s)
		n := min(len(s)-at, to-from)
		c.Run(s[at : at+n])
		from += n
	}
}

// tally adds to adds what the first n steps add to each key, times times.
func (s script) tally(n int, times int64, adds []int64) {
	whole, rest := int64(n/len(s)), n%len(s)
	for i, step := range s {
		if step.Read() {
			continue
		}
		passes := whole
		if i < rest {
			passes++
		}
		adds[step.Key()] += passes * times
	}
}
