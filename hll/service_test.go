package hll

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/internal/servertest"
)

// A redisConn speaks as much of the Redis protocol as these tests need.
type redisConn struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func dialRedis(t *testing.T) *redisConn {
	conn, err := net.DialTimeout("tcp", servertest.RedisAddr(t), 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return &redisConn{t: t, conn: conn, in: bufio.NewReader(conn)}
}

// do sends a command and returns the reply, an integer in decimal.
func (c *redisConn) do(args ...string) string {
	c.t.Helper()
	var cmd strings.Builder
	fmt.Fprintf(&cmd, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&cmd, "$%d\r\n%s\r\n", len(a), a)
	}
	_, err := io.WriteString(c.conn, cmd.String())
	require.NoError(c.t, err)
	line, err := c.in.ReadString('\n')
	require.NoError(c.t, err)
	kind, rest := line[0], strings.TrimSuffix(line[1:], "\r\n")
	if kind != '$' {
		require.NotEqual(c.t, '-', rune(kind), "%v: %s", args[0], rest)
		return rest
	}
	n, err := strconv.Atoi(rest)
	require.NoError(c.t, err)
	require.GreaterOrEqual(c.t, n, 0, "%v: no such key", args[0])
	body := make([]byte, n+len("\r\n"))
	_, err = io.ReadFull(c.in, body)
	require.NoError(c.t, err)
	return string(body[:n])
}

// keys returns names that no one else uses, to be deleted in the end.
func (c *redisConn) keys(n int) []string {
	prefix := "hotcount-hll-test:" + rand.Text() + ":"
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	c.t.Cleanup(func() { c.do(append([]string{"DEL"}, names...)...) })
	return names
}

func (c *redisConn) pfadd(key string, from, to int) {
	const batch = 1000
	for from < to {
		args := []string{"PFADD", key}
		for end := min(to, from+batch); from < end; from++ {
			args = append(args, fmt.Sprint("user:", from))
		}
		c.do(args...)
	}
}

// What PFADD makes of elements is, register for register, what a sketch with
// Redis' hash exports; and Redis counts, merges and adds to what it exports.
func TestAgainstRedis(t *testing.T) {
	c := dialRedis(t)
	for n, count := range map[int]string{100: "100", 1000: "1007", 10_000: "10089", 100_000: "99471"} {
		keys := c.keys(4)
		native, exported, half, merged := keys[0], keys[1], keys[2], keys[3]
		c.pfadd(native, 0, n)

		parsed, err := ParseRedis([]byte(c.do("GET", native)), Options{Hash: Redis})
		require.NoError(t, err, "as Redis has it, sparse or dense")
		s := users(t, Options{Hash: Redis}, n)
		require.Equal(t, rhos(s), rhos(parsed))

		c.do("PFDEBUG", "TODENSE", native)
		enc, err := s.AppendRedis(nil)
		require.NoError(t, err)
		require.Equal(t, c.do("GET", native)[redisHeader:], string(enc[redisHeader:]))

		require.Equal(t, "OK", c.do("SET", exported, string(enc)))
		assert.Equal(t, count, c.do("PFCOUNT", exported))
		assert.Equal(t, count, c.do("PFCOUNT", native))
		assert.Equal(t, count, c.do("PFCOUNT", native, exported), "the same elements count once")

		// The count that PFCOUNT has left in the header does no harm.
		again, err := ParseRedis([]byte(c.do("GET", exported)), Options{Hash: Redis})
		require.NoError(t, err)
		require.Equal(t, rhos(s), rhos(again))

		c.pfadd(half, n/2, n+n/2)
		c.do("PFMERGE", merged, exported, half)
		got, err := ParseRedis([]byte(c.do("GET", merged)), Options{Hash: Redis})
		require.NoError(t, err)
		want := users(t, Options{Hash: Redis}, n+n/2)
		require.Equal(t, rhos(want), rhos(got))

		c.pfadd(exported, n, n+n/2)
		assert.Equal(t, c.do("PFCOUNT", merged), c.do("PFCOUNT", exported), "PFADD goes on where the sketch stopped")
	}
}

// Sketches with another hash count and merge among themselves, too.
func TestOtherHashInRedis(t *testing.T) {
	c := dialRedis(t)
	keys := c.keys(3)
	for i, s := range []*Sketch{sketchOf(t, 14, 0, 20_000), sketchOf(t, 14, 10_000, 20_000)} {
		enc, err := s.AppendRedis(nil)
		require.NoError(t, err)
		c.do("SET", keys[i], string(enc))
	}
	c.do("PFMERGE", keys[2], keys[0], keys[1])
	got, err := ParseRedis([]byte(c.do("GET", keys[2])), Options{})
	require.NoError(t, err)
	require.Equal(t, rhos(sketchOf(t, 14, 0, 30_000)), rhos(got))
	n, err := strconv.ParseFloat(c.do("PFCOUNT", keys[2]), 64)
	require.NoError(t, err)
	assert.InEpsilon(t, 30_000, n, 0.04)
}

// A database runs SQL by psql.
type database struct{ psql, url string }

// scratchDatabase returns a database of the test's own, with the extension hll.
func scratchDatabase(t *testing.T) database {
	t.Helper()
	server := database{servertest.Program(t, "psql"), servertest.PostgresURL(t)}
	if server.run(t, `SELECT count(*) FROM pg_available_extensions WHERE name = 'hll'`) == "0" {
		servertest.Absent(t, "extension hll", errors.New("PostgreSQL has it not"))
	}
	name := "hotcount_hll_test_" + strings.ToLower(rand.Text())
	server.run(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { server.run(t, "DROP DATABASE "+name) })
	u, err := url.Parse(server.url)
	require.NoError(t, err)
	u.Path = "/" + name
	d := database{server.psql, u.String()}
	d.run(t, "CREATE EXTENSION hll")
	return d
}

// run returns what the SQL selects.
func (d database) run(t *testing.T, sql string) string {
	t.Helper()
	cmd := exec.Command(d.psql, "-d", d.url, "-qAtX", "-v", "ON_ERROR_STOP=1", "-f", "-")
	cmd.Stdin = strings.NewReader(sql)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// The PostgreSQL extension makes the same registers of the same hashes, and
// counts and unites what a sketch exports.
func TestAgainstPostgres(t *testing.T) {
	db := scratchDatabase(t)
	for _, p := range []int{10, 14} {
		for _, n := range []uint64{1, 1000, 100_000} {
			s := mustNew(t, Options{Precision: p})
			var values strings.Builder
			for i := range n {
				s.AddHash(bits.Reverse64(hashOf(i)))
				fmt.Fprintf(&values, "%d\n", int64(hashOf(i)))
			}
			enc := hex.EncodeToString(s.AppendPostgres(nil))
			out := db.run(t, fmt.Sprintf(`
CREATE TEMP TABLE hashes (h bigint);
COPY hashes FROM stdin;
%s\.
CREATE TEMP TABLE sketches AS SELECT '\x%s'::hll AS ours, hll_add_agg(h::hll_hashval, %d, 5) AS theirs,
	hll_add_agg(h::hll_hashval, %[3]d, 5, 0, 0) AS registers FROM hashes;
SELECT encode(hll_send(registers), 'hex') FROM sketches;
SELECT hll_cardinality(ours), hll_cardinality(registers), hll_cardinality(hll_union(ours, theirs)) FROM sketches;
SELECT hll_cardinality(decode('%[2]s', 'hex')::hll);
`, values.String(), enc, p))
			lines := strings.Split(out, "\n")
			require.Len(t, lines, 3)
			const header = 2 * 3 // whose last byte says how small sketches are kept
			require.Equal(t, lines[0][header:], enc[header:], "p=%d, n=%d", p, n)
			counts := strings.Split(lines[1], "|")
			for _, c := range append(counts, lines[2]) {
				assert.Equal(t, counts[1], c, "p=%d, n=%d", p, n)
			}
			count, err := strconv.ParseFloat(counts[0], 64)
			require.NoError(t, err)
			assert.InDelta(t, float64(n), count, 0.15*float64(n), "p=%d", p)
		}
	}
}
