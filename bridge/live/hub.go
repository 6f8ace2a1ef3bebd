package live

import (
	"sync"
	"time"
)

// busyShare bounds the time that updates take: after one there is none for so many
// times as long as it took. Answers to newcomers have a share as large.
const busyShare = 20

// A hub knows who looks at a page. While somebody does, one goroutine takes
// views of the engine and gives each client what it asked for; it ends with the
// last client.
type hub struct {
	done chan struct{} // closed by close
	wake chan struct{} // holds a token when clients came or went

	mu      sync.Mutex
	closed  bool
	running bool
	clients map[*client]struct{}
}

// A client is one open page.
type client struct {
	query  query
	frames chan []byte // holds the newest that was not sent yet
	served bool        // guarded by hub.mu
}

func newHub() hub {
	return hub{
		done:    make(chan struct{}),
		wake:    make(chan struct{}, 1),
		clients: make(map[*client]struct{}),
	}
}

// join adds a client, unless there are too many or the page is closed.
func (p *Page) join(q query) (*client, bool) {
	h := &p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.clients) >= p.o.Streams {
		return nil, false
	}
	c := &client{query: q, frames: make(chan []byte, 1)}
	h.clients[c] = struct{}{}
	if !h.running {
		h.running = true
		go p.watch()
	}
	h.notify()
	return c, true
}

func (h *hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
	h.notify()
}

func (h *hub) notify() {
	select {
	case h.wake <- struct{}{}:
	default: // there is a token
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.done)
	}
}

// newcomers returns the clients that had no frame yet, or all, by what they ask
// for, and counts them as served. It reports false if nobody is left; watch has
// to end then.
func (h *hub) newcomers(all bool) (by map[query][]*client, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) == 0 {
		h.running = false
		return nil, false
	}
	by = make(map[query][]*client)
	for c := range h.clients {
		if all || !c.served {
			c.served = true
			by[c.query] = append(by[c.query], c)
		}
	}
	return by, true
}

// watch serves the clients until there are none. Who comes between two views gets
// the last one, at once unless others have just been answered so.
func (p *Page) watch() {
	w := watcher{page: p}
	next := time.NewTimer(p.o.Interval)
	defer next.Stop()
	wake := p.hub.wake // nil during a rest
	var rest <-chan time.Time
	for {
		tick := false
		select {
		case <-next.C:
			tick = true
		case <-rest:
			wake, rest = p.hub.wake, nil
			continue
		case <-wake: // the first client has left a token
			tick = !w.looked()
		}
		due, ok := p.hub.newcomers(tick)
		if !ok {
			return
		}
		began := time.Now()
		if tick {
			w.look()
		}
		for q, clients := range due {
			frame := w.frame(q)
			for _, c := range clients {
				c.give(frame)
			}
		}
		took := time.Since(began)
		if tick {
			next.Reset(max(p.o.Interval, busyShare*took))
		} else {
			wake, rest = nil, time.After(busyShare*took)
		}
	}
}

// give puts a frame in the place of one that has not been sent yet. Only watch
// calls it.
func (c *client) give(frame []byte) {
	select {
	case <-c.frames:
	default:
	}
	c.frames <- frame
}
