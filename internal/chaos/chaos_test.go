package chaos

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An echo is a server that notes the lines that it gets and sends them back.
type echo struct {
	listener net.Listener
	got      chan string
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	e := &echo{listener: l, got: make(chan string, 1000)}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					e.got <- lines.Text()
					c.Write([]byte(lines.Text() + "\n"))
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait() })
	return e
}

// ask sends a line through the proxy and returns the answer, "" if none comes.
func ask(t *testing.T, p *Proxy, line string) string {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	defer c.Close()
	c.Write([]byte(line + "\n"))
	answer, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSuffix(answer, "\n")
}

func listen(t *testing.T, e *echo) *Proxy {
	t.Helper()
	p, err := Listen(e.listener.Addr().String(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name              string
		faults            Faults
		answered, arrives bool
	}{
		{"none", Faults{}, true, true},
		{"cut", Faults{Cut: 1}, false, false},
		{"mute", Faults{Mute: 1}, false, true},
		{"late", Faults{Late: 1, Delay: time.Millisecond}, false, true},
		{"slow", Faults{Slow: 1, Delay: time.Millisecond}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEcho(t)
			p := listen(t, e)
			p.Set(test.faults)
			assert.Equal(t, test.answered, ask(t, p, "x") == "x")
			if test.arrives {
				assert.Equal(t, "x", <-e.got)
			}
			require.NoError(t, p.listener.Close())
			p.conns.Wait()
			assert.Empty(t, e.got)
		})
	}
}

func TestTwice(t *testing.T) {
	e := newEcho(t)
	p := listen(t, e)
	p.Set(Faults{Twice: 1, Delay: time.Millisecond, Hello: "hello\n"})
	assert.Equal(t, "x", ask(t, p, "x"))
	require.NoError(t, p.listener.Close())
	p.conns.Wait()
	got := []string{<-e.got, <-e.got, <-e.got}
	assert.ElementsMatch(t, []string{"x", "hello", "x"}, got)
	assert.Empty(t, e.got)
	assert.Equal(t, Tally{Conns: 1, Twices: 1}, p.Tally())
}

func TestRedirect(t *testing.T) {
	one, other := newEcho(t), newEcho(t)
	p := listen(t, one)
	assert.Equal(t, "x", ask(t, p, "x"))
	p.Redirect(other.listener.Addr().String())
	assert.Equal(t, "y", ask(t, p, "y"))
	assert.Equal(t, "x", <-one.got)
	assert.Equal(t, "y", <-other.got)
}

func TestCutAllEndsOpenConnections(t *testing.T) {
	p := listen(t, newEcho(t))
	c, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	defer c.Close()
	r := bufio.NewReader(c)
	c.Write([]byte("x\n"))
	answer, err := r.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "x\n", answer)
	p.CutAll()
	_, err = r.ReadString('\n')
	assert.Error(t, err)
	assert.Equal(t, "y", ask(t, p, "y"), "a new one works")
}
