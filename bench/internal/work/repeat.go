package work

import "sync"

// A Repeater calls a function again and again, until Close.
type Repeater struct {
	stop    chan struct{}
	stopped sync.WaitGroup
}

// Repeat starts to call f.
func Repeat(f func()) *Repeater {
	r := &Repeater{stop: make(chan struct{})}
	r.stopped.Go(func() {
		for {
			select {
			case <-r.stop:
				return
			default:
				f()
			}
		}
	})
	return r
}

// Workers is 1: the goroutine that calls.
func (r *Repeater) Workers() int { return 1 }

// Close returns when the last call has.
func (r *Repeater) Close() {
	close(r.stop)
	r.stopped.Wait()
}
