package redissink

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/internal/servertest"
)

// patience bounds every wait for a server.
const patience = 20 * time.Second

// A server is a redis-server of the test's own.
type server struct {
	*servertest.Server
	t testing.TB
}

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	return &server{servertest.Redis(t, args...), t}
}

func (s *server) client() *redis.Client { return s.clientAs(&redis.Options{}) }

func (s *server) clientAs(o *redis.Options) *redis.Client {
	o.Addr = s.Addr()
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
		addrs, nodes = append(addrs, s.Addr()), append(nodes, s.client())
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
