package bench

import (
	"runtime"
	"sync/atomic"
)

// A gate lets goroutines begin together.
type gate struct {
	all     int64
	arrived atomic.Int64
	// open is closed when all have arrived, and nil if they wait by looking.
	open chan struct{}
}

// newGate returns a gate for n goroutines. If each can have a P, they look until
// all are there, and begin at once. More than that would keep each other from
// arriving, so they sleep, and waking them is part of what they do.
func newGate(n int) *gate {
	g := &gate{all: int64(n)}
	if n > runtime.GOMAXPROCS(0) {
		g.open = make(chan struct{})
	}
	return g
}

// pass waits until all have called it. The last one calls begin before any goes
// on.
func (g *gate) pass(begin func()) {
	last := g.arrived.Add(1) == g.all
	if last {
		begin()
	}
	switch {
	case g.open == nil:
		if last {
			g.arrived.Add(1)
		}
		for g.arrived.Load() <= g.all {
			runtime.Gosched() // somebody else may have the P meanwhile
		}
	case last:
		close(g.open)
	default:
		<-g.open
	}
}
