package bench

import (
	"runtime"
	"slices"
)

// weighings is how often a counter is weighed, since what else is on the heap
// changes, too.
const weighings = 3

// weigh returns how many bytes of heap a counter takes once it has been added
// to, and 0 if the case's workload does not weigh. Only one goroutine adds: a
// counter that goes hot by itself is weighed cold.
func weigh(c *Case) (float64, error) {
	if c.weighs == nil {
		return 0, nil
	}
	steps := make([]Step, KeyCount)
	for i := range steps {
		steps[i] = AddTo(i)
	}
	var weights [weighings]float64
	for i := range weights {
		var err error
		if weights[i], err = weighOnce(c, steps); err != nil {
			return 0, err
		}
	}
	slices.Sort(weights[:])
	return weights[weighings/2] / float64(c.weighs(len(steps))), nil
}

// weighOnce returns how much the heap grows when all counters are made and added
// to.
func weighOnce(c *Case, steps []Step) (float64, error) {
	before := heapBytes()
	l := c.layout()
	l.Keys = len(steps)
	made, err := c.Impl.New(l)
	if err != nil {
		return 0, err
	}
	made.Run(steps)
	after := heapBytes()
	if w, ok := made.(Worker); ok {
		w.Close()
	}
	runtime.KeepAlive(made)
	runtime.KeepAlive(steps) // or its end would be taken off the weight
	return max(float64(after)-float64(before), 0), nil
}

// heapBytes returns the size of what can be reached.
func heapBytes() uint64 {
	// What a sync.Pool or a finalizer keeps goes with the second collection.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
