package work

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Labels returns n different pairs of label values: a method and a route.
func Labels(n int) [][2]string {
	methods := []string{"GET", "POST", "PUT", "DELETE"}
	labels := make([][2]string, n)
	for i := range labels {
		labels[i] = [2]string{methods[i%len(methods)], fmt.Sprintf("/api/v1/route-%03d", i/len(methods))}
	}
	return labels
}

// Series is how many series the registry has that is read out.
const Series = 10_000

// SeriesName returns the label value of series i of that registry.
func SeriesName(i int) string { return "post-" + strconv.Itoa(i) }

// Elements returns n different elements of 16 bytes. They are few, so that it
// is the sketch that is timed and not the memory they lie in.
func Elements(n int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([][]byte, n)
	for i := range all {
		all[i] = fmt.Appendf(nil, "%016x", rng.Uint64())
	}
	return all
}

// Sketched is how many elements a sketch has before the work begins, as that of
// a busy server would.
const Sketched = 50_000

// SketchedHashes returns the hashes of those elements.
func SketchedHashes() []uint64 {
	rng := rand.New(rand.NewPCG(3, 4))
	all := make([]uint64, Sketched)
	for i := range all {
		all[i] = rng.Uint64()
	}
	return all
}
