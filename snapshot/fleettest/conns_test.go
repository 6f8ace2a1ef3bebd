package fleettest

import (
	"context"
	"net"
	"sync/atomic"
)

// A meter counts how often a client waited for answers of a server.
type meter struct{ turns atomic.Int64 }

// dial makes connections that are counted.
func (m *meter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &turnConn{Conn: conn, turns: &m.turns}, nil
}

// Dial is dial for a client that knows no contexts.
func (m *meter) Dial(network, addr string) (net.Conn, error) {
	return m.dial(context.Background(), network, addr)
}

// A turnConn counts a turn when an answer follows a request: what comes before the
// next request is one more answer of that turn.
type turnConn struct {
	net.Conn
	wrote atomic.Bool
	turns *atomic.Int64
}

func (c *turnConn) Write(b []byte) (int, error) {
	c.wrote.Store(true)
	return c.Conn.Write(b)
}

func (c *turnConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && c.wrote.Swap(false) {
		c.turns.Add(1)
	}
	return n, err
}
