// Package chaos is a TCP proxy on loopback that treats connections as badly as
// networks do, for tests of what talks to servers.
package chaos

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Faults say how often what happens to a piece of a stream, as it came from one
// read: an average of one in so many, 0 for never. TCP does not reorder, repeat
// or lose within a connection, so all but delays end it; a client that sends
// again does the rest. What late requests do, Late shows.
type Faults struct {
	Cut   int           // the connection ends before a request reaches the server
	Mute  int           // the request does, and the connection ends without an answer
	Late  int           // as Mute, but the request reaches the server after Delay
	Slow  int           // a request waits for a random part of Delay
	Twice int           // it reaches the server once more, after Delay, on its own
	Delay time.Duration // at most

	// Hello is what a connection has to begin with before a request that is
	// repeated there. Twice is for protocols whose requests stand alone.
	Hello string
}

// A Tally is how often a Proxy did what.
type Tally struct{ Conns, Cuts, Mutes, Lates, Slows, Twices int64 }

// A Proxy forwards connections to a server and damages some.
type Proxy struct {
	listener net.Listener
	target   atomic.Pointer[string]
	faults   atomic.Pointer[Faults]
	rng      func(n int) int
	conns    sync.WaitGroup

	mu     sync.Mutex
	tally  Tally
	closed bool
	open   map[net.Conn]struct{}
}

// Listen starts a proxy for the server at target, on a port of its own. Seed
// makes what it does repeatable, as far as the order of events is.
func Listen(target string, seed uint64) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	p := &Proxy{
		listener: l,
		open:     make(map[net.Conn]struct{}),
		rng: func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return rng.IntN(n)
		},
	}
	p.faults.Store(&Faults{})
	p.target.Store(&target)
	p.conns.Go(p.accept)
	return p, nil
}

// Addr returns the address to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes the faults, for connections that are open too.
func (p *Proxy) Set(f Faults) { p.faults.Store(&f) }

// Redirect sends connections that begin from now on to another server, as a name
// does that is given to another one.
func (p *Proxy) Redirect(target string) { p.target.Store(&target) }

// Tally returns how often the proxy did what so far. What CutAll ended counts as
// cut.
func (p *Proxy) Tally() Tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tally
}

// count adds one to a number of the tally.
func (p *Proxy) count(n *int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n++
}

// CutAll ends all connections that are open.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally.Cuts += int64(len(p.open) / 2) // of which each has two ends
	for c := range p.open {
		c.Close()
	}
}

// Close ends all connections and waits for what is late.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.CutAll()
	p.conns.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // of that one connection
		}
		p.conns.Go(func() { p.serve(client) })
	}
}

// keep notes an open connection, and reports false if the proxy is closed.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	c.Close()
}

func (p *Proxy) serve(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	server, err := net.Dial("tcp", *p.target.Load())
	if err != nil {
		return
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	p.count(&p.tally.Conns)
	var mute atomic.Bool
	p.conns.Go(func() {
		defer client.Close()
		answers(client, server, &mute)
	})
	p.requests(client, server, &mute)
}

// answers copies what the server says, or throws it away once mute is set. It
// ends with the server's connection, so that what was sent is worked off.
func answers(client, server net.Conn, mute *atomic.Bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if n > 0 && !mute.Load() {
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// requests copies what the client says until a fault ends it.
func (p *Proxy) requests(client, server net.Conn, mute *atomic.Bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if n > 0 && !p.forward(buf[:n], client, server, mute) {
			return
		}
		if err != nil {
			return
		}
	}
}

// forward sends one piece on, and reports whether the connection goes on.
func (p *Proxy) forward(piece []byte, client, server net.Conn, mute *atomic.Bool) bool {
	f := p.faults.Load()
	one := func(in int) bool { return in > 0 && p.rng(in) == 0 }
	wait := func() {
		if f.Delay > 0 {
			time.Sleep(time.Duration(p.rng(int(f.Delay))))
		}
	}
	if one(f.Twice) {
		p.count(&p.tally.Twices)
		again := append([]byte(f.Hello), piece...)
		p.conns.Go(func() {
			wait()
			p.repeat(again)
		})
	}
	switch {
	case one(f.Cut):
		p.count(&p.tally.Cuts)
		return false
	case one(f.Mute):
		p.count(&p.tally.Mutes)
		mute.Store(true)
		p.lastWords(piece, server)
		return false
	case one(f.Late):
		p.count(&p.tally.Lates)
		mute.Store(true)
		client.Close()
		wait()
		p.lastWords(piece, server)
		return false
	case one(f.Slow):
		p.count(&p.tally.Slows)
		wait()
	}
	_, err := server.Write(piece)
	return err == nil
}

// repeat sends a piece on a connection of its own.
func (p *Proxy) repeat(piece []byte) {
	server, err := net.Dial("tcp", *p.target.Load())
	if err != nil {
		return
	}
	defer p.drop(server)
	if p.keep(server) {
		p.lastWords(piece, server)
	}
}

// lastWords sends a last piece and gives the server the time to take it.
func (p *Proxy) lastWords(piece []byte, server net.Conn) {
	if _, err := server.Write(piece); err != nil {
		return
	}
	if half, ok := server.(*net.TCPConn); ok {
		half.CloseWrite()
	}
	const enough = time.Second
	server.SetReadDeadline(time.Now().Add(enough))
	io.Copy(io.Discard, server)
}
