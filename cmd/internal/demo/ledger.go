package demo

import (
	"fmt"
	"sync"
)

// A ledger is a second, plain account of views and likes, kept by those who
// send requests and not by the engine.
type ledger struct {
	mu     sync.Mutex
	counts counts
}

// counts are views and likes of each post; posts[0] is unused.
type counts [posts + 1]struct{ views, likes int64 }

func (l *ledger) add(post int, like bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if like {
		l.counts[post].likes++
	} else {
		l.counts[post].views++
	}
}

func (l *ledger) read() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (c *counts) views() (n int64) {
	for _, p := range c {
		n += p.views
	}
	return n
}

func (c *counts) likes() (n int64) {
	for _, p := range c {
		n += p.likes
	}
	return n
}

func (c counts) plus(d counts) counts {
	for i := range d {
		c[i].views += d[i].views
		c[i].likes += d[i].likes
	}
	return c
}

func (c counts) minus(d counts) counts {
	for i := range d {
		c[i].views -= d[i].views
		c[i].likes -= d[i].likes
	}
	return c
}

// differences says in words where two counts that should be equal are not.
func differences(aName string, a counts, bName string, b counts) (all []string) {
	for i := range a {
		if a[i] != b[i] {
			all = append(all, fmt.Sprintf("post %d: %s %d views and %d likes, %s %d and %d",
				i, aName, a[i].views, a[i].likes, bName, b[i].views, b[i].likes))
		}
	}
	return all
}
