package demo

import (
	"fmt"
	"sync"
)

// A ledger is a second, plain account of what was counted, kept by those who
// send requests and not by the engine.
type ledger struct {
	mu     sync.Mutex
	counts counts
}

// counts are views and likes of each post, and how many visitors there were.
type counts struct {
	posts    [posts + 1]struct{ views, likes int64 } // posts[0] is unused
	visitors int64
}

// add notes a request: what it was for, and whether it was a visitor's first.
func (l *ledger) add(post int, like, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if like {
		l.counts.posts[post].likes++
	} else {
		l.counts.posts[post].views++
	}
	if first {
		l.counts.visitors++
	}
}

// addViews notes n views of a post.
func (l *ledger) addViews(post int, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.posts[post].views += n
}

func (l *ledger) read() counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (c *counts) views() (n int64) {
	for _, p := range c.posts {
		n += p.views
	}
	return n
}

func (c *counts) likes() (n int64) {
	for _, p := range c.posts {
		n += p.likes
	}
	return n
}

func (c *counts) all() int64 { return c.views() + c.likes() }

func (c counts) plus(d counts) counts {
	for i := range d.posts {
		c.posts[i].views += d.posts[i].views
		c.posts[i].likes += d.posts[i].likes
	}
	c.visitors += d.visitors
	return c
}

func (c counts) minus(d counts) counts {
	for i := range d.posts {
		c.posts[i].views -= d.posts[i].views
		c.posts[i].likes -= d.posts[i].likes
	}
	c.visitors -= d.visitors
	return c
}

// differences says in words where two counts that should be equal are not.
func differences(aName string, a counts, bName string, b counts) (all []string) {
	for i := range a.posts {
		if a.posts[i] != b.posts[i] {
			all = append(all, fmt.Sprintf("post %d: %s %d views and %d likes, %s %d and %d",
				i, aName, a.posts[i].views, a.posts[i].likes, bName, b.posts[i].views, b.posts[i].likes))
		}
	}
	if a.visitors != b.visitors {
		all = append(all, fmt.Sprintf("visitors: %s %d, %s %d", aName, a.visitors, bName, b.visitors))
	}
	return all
}
