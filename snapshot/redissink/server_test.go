package redissink

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A server is a redis-server of the test's own on a free port.
type server struct {
	t    testing.TB
	dir  string
	port int
	args []string
	cmd  *exec.Cmd
	out  bytes.Buffer
}

// patience bounds every wait for a server.
const patience = 20 * time.Second

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), port: freePort(t), args: args}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		l.Close()
		// A cluster node has a second port 10,000 above.
		if port := l.Addr().(*net.TCPAddr).Port; port < 55_000 {
			return port
		}
	}
	t.Fatal("no free port below 55000")
	return 0
}

func (s *server) start() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		absent(s.t, "redis-server", err)
	}
	args := append([]string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir, "--save", ""}, s.args...)
	s.cmd = exec.Command(path, args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	require.NoError(s.t, s.cmd.Start())
	s.await()
}

// await returns when the server takes connections.
func (s *server) await() {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		c, err := net.Dial("tcp", s.addr())
		if err == nil {
			c.Close()
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-s.t.Context().Done():
		}
	}
	s.t.Fatalf("the server does not answer:\n%s", &s.out)
}

// kill ends the server at once, as a power cut does.
func (s *server) kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func (s *server) client() *redis.Client { return s.clientAs(&redis.Options{}) }

func (s *server) clientAs(o *redis.Options) *redis.Client {
	o.Addr = s.addr()
	c := redis.NewClient(o)
	s.t.Cleanup(func() { c.Close() })
	return c
}

// startCluster starts a cluster of n nodes that own a share of the slots each.
func startCluster(t testing.TB, n int) *redis.ClusterClient {
	t.Helper()
	const slots = 16384
	var addrs []string
	var nodes []*redis.Client
	for range n {
		s := startServer(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
		addrs, nodes = append(addrs, s.addr()), append(nodes, s.client())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, node := range nodes {
		require.NoError(t, node.ClusterAddSlotsRange(ctx, i*slots/n, (i+1)*slots/n-1).Err())
		require.NoError(t, node.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
	}
	for _, addr := range addrs[1:] {
		host, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		require.NoError(t, nodes[0].ClusterMeet(ctx, host, port).Err())
	}
	for _, node := range nodes {
		for !bytes.Contains([]byte(node.ClusterInfo(ctx).Val()), []byte("cluster_state:ok")) ||
			!bytes.Contains([]byte(node.ClusterInfo(ctx).Val()), fmt.Appendf(nil, "cluster_known_nodes:%d", n)) {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("the cluster does not form: %s", node.ClusterInfo(t.Context()).Val())
			}
		}
	}
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { c.Close() })
	return c
}

// copyFile copies what a server has saved.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Clean(from))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}
