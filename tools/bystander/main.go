// Command bystander stands where servers do that happen to run on a machine, and
// fails if anybody comes.
//
//	bystander PORT…
//
// It listens on ports of 127.0.0.1 until it is interrupted or terminated. Its status is 1 if there
// was a connection, each of which it prints with the bytes that came. A port that is
// taken is not watched, and it says so.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := watch(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bystander:", err)
		os.Exit(1)
	}
}

// patience is how long a visitor has to say something.
const patience = time.Second

// watch returns when ctx ends, with an error if there was a connection or if there is
// no port to watch. It prints a line for each port that it listens on.
func watch(ctx context.Context, ports []string, out io.Writer) error {
	var visits atomic.Int64
	var watching sync.WaitGroup
	listening := 0
	for _, port := range ports {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			fmt.Fprintln(out, "not watched:", err)
			continue
		}
		listening++
		fmt.Fprintln(out, "watching", l.Addr())
		context.AfterFunc(ctx, func() { l.Close() })
		watching.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil { // closed
					return
				}
				visits.Add(1)
				fmt.Fprintf(out, "%v came to %v and said %q\n", c.RemoteAddr(), c.LocalAddr(), hear(c))
			}
		})
	}
	if listening == 0 {
		return errors.New("there is no port to watch")
	}
	watching.Wait()
	if n := visits.Load(); n > 0 {
		return fmt.Errorf("%d connections to servers that nobody started", n)
	}
	return nil
}

// hear returns the first bytes that come, and hangs up.
func hear(c net.Conn) []byte {
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(patience))
	said := make([]byte, 80)
	n, _ := c.Read(said) // to say nothing is to come, too
	return said[:n]
}
