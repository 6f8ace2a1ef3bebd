package redissink

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

const password = "s3cret-word"

// user is the ACL of the package documentation.
var user = []any{
	"ACL", "SETUSER", "hotcount", "on", ">" + password, "~app:*", "-@all", "+@scripting", "+@hash", "+@sortedset",
	"+@string", "+pfmerge", "+time", "+exists", "+del", "+pttl", "+pexpireat", "+ping", "+hello",
}

func write(t *testing.T, o Options) error {
	t.Helper()
	k := open(t, o)
	c := newCounting()
	c.add(key(t, "hits_total", "x"), 1)
	for _, o := range []hll.Options{{}, {Hash: hll.Redis}} {
		u := sketchOf(t, o, 0, 10)
		c.Uniques = append(c.Uniques, snapshot.UniquesRow{Key: key(t, "visitors", "x"), Created: int64(o.Hash), Scheme: u.Scheme(), Sketch: encoded(t, u)})
	}
	if err := k.Write(t.Context(), c.next()); err != nil {
		return err
	}
	for i := range c.Uniques {
		c.Uniques[i].Sketch = encoded(t, sketchOf(t, hll.Options{Hash: c.Uniques[i].Scheme.Hash}, 0, 20))
	}
	return k.Write(t.Context(), c.next())
}

func TestAccess(t *testing.T) {
	s := startServer(t)
	require.NoError(t, s.client().Do(t.Context(), user...).Err())
	require.NoError(t, s.client().Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">"+password, "~*", "+@read", "+@scripting").Err())
	require.NoError(t, s.client().Do(t.Context(), "ACL", "SETUSER", "default", "off").Err())
	for _, test := range []struct {
		name, user, password, prefix string
		want                         error
	}{
		{"no password", "", "", "app:", export.ErrDenied},
		{"wrong password", "hotcount", password + "x", "app:", export.ErrDenied},
		{"other keys", "hotcount", password, "other:", export.ErrDenied},
		{"other commands", "reader", password, "app:", export.ErrDenied},
		{"as documented", "hotcount", password, "app:", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := write(t, Options{Client: s.clientAs(&redis.Options{Username: test.user, Password: test.password}), Prefix: test.prefix})
			require.ErrorIs(t, err, test.want)
			if err != nil {
				assert.NotContains(t, err.Error(), password)
			}
		})
	}
	k := open(t, Options{Client: s.clientAs(&redis.Options{Username: "hotcount", Password: password}), Prefix: "app:"})
	got := totals(t, k)
	assert.Len(t, got, 1)
	_, err := k.Uniques(t.Context(), export.Query{})
	require.NoError(t, err)
	_, _, err = k.Count(t.Context(), key(t, "hits_total", "x"), 0)
	require.NoError(t, err)
	_, err = k.Sweep(t.Context())
	require.NoError(t, err)
}

func TestAReplicaIsReadOnly(t *testing.T) {
	primary, replica := startServer(t), startServer(t)
	c := replica.client()
	require.NoError(t, write(t, Options{Client: primary.client()}))
	require.NoError(t, c.ReplicaOf(t.Context(), "127.0.0.1", strconv.Itoa(primary.Port())).Err())
	err := write(t, Options{Client: c, Prefix: "x:"})
	require.ErrorIs(t, err, export.ErrReadOnly)
	require.NoError(t, c.ReplicaOf(t.Context(), "NO", "ONE").Err())
	require.NoError(t, write(t, Options{Client: c, Prefix: "x:"}))
}

// A full server takes nothing, and all of it once it has room.
func TestAFullServer(t *testing.T) {
	s := startServer(t)
	c := s.client()
	k := open(t, Options{Client: c})
	counted := newCounting()
	counted.add(key(t, "hits_total", "x"), 5)
	require.NoError(t, k.Write(t.Context(), counted.next()))

	require.NoError(t, c.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for i := range 1000 {
		counted.add(key(t, "hits_total", strconv.Itoa(i)), 1)
	}
	err := k.Write(t.Context(), counted.next())
	require.ErrorIs(t, err, export.ErrFull)
	assert.Len(t, totals(t, k), 1, "reading still works")

	require.NoError(t, c.ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.NoError(t, k.Write(t.Context(), counted.next()))
	assert.Len(t, totals(t, k), 1001)
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer c.Close()
	err = write(t, Options{Client: c})
	var network *net.OpError
	require.ErrorAs(t, err, &network)
}

func TestLayouts(t *testing.T) {
	client, prefix := connect(t)
	require.NoError(t, write(t, Options{Client: client, Prefix: prefix}))
	for _, n := range []int{1, 2} {
		err := write(t, Options{Client: client, Prefix: prefix, Partitions: n})
		require.ErrorIs(t, err, export.ErrSchema)
		_, err = open(t, Options{Client: client, Prefix: prefix, Partitions: n}).Totals(t.Context(), export.Query{})
		require.ErrorIs(t, err, export.ErrSchema)
	}
}

func TestSomebodyElsesKeys(t *testing.T) {
	client, prefix := connect(t)
	k := open(t, Options{Client: client, Prefix: prefix})
	require.NoError(t, client.Set(t.Context(), k.KeyNames(key(t, "hits_total", "x")).Counter, "x", 0).Err())
	err := write(t, Options{Client: client, Prefix: prefix})
	require.ErrorIs(t, err, export.ErrForeign)
}

func TestOptions(t *testing.T) {
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	for _, o := range []Options{
		{},
		{Client: client, Prefix: "{"},
		{Client: client, Prefix: "}"},
		{Client: client, Lease: -1},
		{Client: client, Partitions: -1},
		{Client: client, Partitions: maxPartitions + 1},
	} {
		_, err := New(o)
		assert.ErrorContains(t, err, "hotcount/redissink: ")
	}
	assert.Equal(t, "redis", open(t, Options{Client: client}).String())
	assert.Equal(t, "redis app:", open(t, Options{Client: client, Prefix: "app:"}).String())
}

func TestExplain(t *testing.T) {
	assert.NoError(t, explain(nil))
	other := errors.New("x")
	assert.ErrorIs(t, explain(other), other)
}

// No mix of errors gives up a snapshot of which some partition may still take its
// share, nor does one that all others have taken go on for ever.
func TestOneLatePartitionGivesUpNoOther(t *testing.T) {
	late := fmt.Errorf("partition: %w", export.ErrTooLate)
	others := []error{errors.New("unknown"), export.ErrUnavailable, export.ErrDenied, export.ErrForeign}
	for _, other := range others {
		for _, errs := range [][]error{{late, other}, {other, late}, {nil, late, other, late}} {
			err := outcome(sharesOf(errs))
			require.ErrorIs(t, err, other)
			require.NotErrorIs(t, err, export.ErrTooLate)
		}
	}
	for _, errs := range [][]error{{late}, {nil, late}, {late, nil, late}} {
		require.ErrorIs(t, outcome(sharesOf(errs)), export.ErrTooLate)
	}
	require.NoError(t, outcome(sharesOf([]error{nil, nil})))
	require.NoError(t, outcome(nil))
}

func sharesOf(errs []error) (shares []*share) {
	for _, err := range errs {
		shares = append(shares, &share{err: err})
	}
	return shares
}
