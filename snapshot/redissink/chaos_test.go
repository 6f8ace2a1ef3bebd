package redissink

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/internal/chaos"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

var chaosFor = flag.Duration("chaos", 5*time.Second, "how long TestKillsUnderChaos does harm")

// childEnv makes the test binary one of the processes of TestKillsUnderChaos. It
// holds the directory and the address of the server.
const childEnv = "HOTCOUNT_CHAOS_CHILD"

func TestMain(m *testing.M) {
	logging.Disable() // the client's own log of the failures that tests make
	if child := os.Getenv(childEnv); child != "" {
		dir, addr, _ := strings.Cut(child, "|")
		if err := count(dir, addr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// ordered writes to the directory first, so that what Redis holds of a process is
// never newer than what the process itself will know.
type ordered struct {
	files *filesink.Sink
	redis *Sink
	live  func(snapshot.WriterID) bool
}

func (o *ordered) Write(ctx context.Context, s *snapshot.Snapshot) error {
	if o.live(s.Writer) {
		if err := o.files.Write(ctx, s); err != nil {
			return err
		}
	}
	return o.redis.Write(ctx, s)
}

// chaosPartitions has the processes flush to more than one partition at once.
const chaosPartitions = 3

// chaosUniques is how the processes' sketches hash.
var chaosUniques = hll.Options{Hash: hll.Redis}

// count is a process that counts until its standard input ends.
func count(dir, addr string) error {
	files, err := filesink.Open(filesink.Options{Dir: dir})
	if err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: addr, ReadTimeout: time.Second, DialerRetries: 1})
	sink, err := New(Options{Client: client, Partitions: chaosPartitions})
	if err != nil {
		return err
	}
	engine, err := hotcount.New(hotcount.Options{
		Uniques: chaosUniques,
		Limits:  hotcount.Limits{IdleAfter: time.Second},
	})
	if err != nil {
		return err
	}
	earlier := map[snapshot.WriterID]bool{}
	var prior []*snapshot.Snapshot
	for _, s := range files.Restored() {
		if !s.Writer.IsZero() {
			earlier[s.Writer] = true
			prior = append(prior, s)
		}
	}
	exporter, err := export.New(export.Options{
		Source:   engine,
		Sinks:    []export.Sink{&ordered{files, sink, func(w snapshot.WriterID) bool { return !earlier[w] }}},
		Interval: 50 * time.Millisecond,
		Timeout:  time.Second,
		Prior:    prior,
		HandedOn: func(w snapshot.WriterID) { files.Fold(w) },
		Logger:   slog.New(slog.DiscardHandler), // failures are what this is about
	})
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	load(engine, stop)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	exporter.Close(ctx) // what it leaves is in the directory
	return files.Close()
}

// load counts until stop is closed. It moves on over the series, so that some are
// idle for long enough to retire.
func load(engine *hotcount.Engine, stop <-chan struct{}) {
	totals := engine.CounterVec("chaos_total", "l")
	visitors := engine.Uniques("chaos_visitors")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		for range 20 {
			label := strconv.Itoa((i/500)%4*10 + rand.IntN(10))
			totals.With(label).Add(rand.Int64N(1000) - 300)
			visitors.AddString(strconv.FormatInt(rand.Int64N(100_000), 36))
		}
	}
}

// A process counts in a directory of its own.
type process struct {
	t     *testing.T
	dir   string
	addr  string
	cmd   *exec.Cmd
	stdin io.Closer
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), childEnv+"="+p.dir+"|"+p.addr)
	p.cmd.Stderr = os.Stderr
	stdin, err := p.cmd.StdinPipe()
	require.NoError(p.t, err)
	p.stdin = stdin
	require.NoError(p.t, p.cmd.Start())
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func (p *process) end() {
	p.stdin.Close()
	assert.NoError(p.t, p.cmd.Wait())
}

// The truth under chaos: whatever happens to processes, the server and what is
// between them, once all is delivered the fleet's totals are what the processes
// know, exactly, and its sketches hold the same registers.
func TestKillsUnderChaos(t *testing.T) {
	const processes = 8
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	s := startServer(t, "--appendonly", "yes", "--appendfsync", "always")
	proxy, err := chaos.Listen(s.Addr(), seed)
	require.NoError(t, err)
	defer proxy.Close()
	proxy.Set(chaos.Faults{Cut: 40, Mute: 40, Late: 40, Slow: 10, Delay: 300 * time.Millisecond})

	var fleet []*process
	for i := range processes {
		p := &process{t: t, dir: filepath.Join(t.TempDir(), strconv.Itoa(i)), addr: proxy.Addr()}
		p.start()
		fleet = append(fleet, p)
		defer p.kill()
	}
	end := time.After(*chaosFor)
	harm := time.NewTicker(200 * time.Millisecond)
	defer harm.Stop()
	for harming := true; harming; {
		select {
		case <-end:
			harming = false
		case <-harm.C:
			switch p := fleet[rng.IntN(len(fleet))]; rng.IntN(6) {
			case 0:
				s.Kill()
				s.Start()
			case 1:
				proxy.CutAll()
			case 2, 3:
				p.kill()
				p.start()
			}
		}
	}
	proxy.Set(chaos.Faults{})
	for _, p := range fleet {
		p.end()
	}
	closeTheLedger(t, s, fleet)
}

// closeTheLedger hands on what the directories still have, and compares.
func closeTheLedger(t *testing.T, s *server, fleet []*process) {
	t.Helper()
	k := open(t, Options{Client: s.client(), Partitions: chaosPartitions})
	want := map[string]int64{}
	visitors, err := hll.New(chaosUniques)
	require.NoError(t, err)
	runs := 0
	for _, p := range fleet {
		files, err := filesink.Open(filesink.Options{Dir: p.dir})
		require.NoError(t, err)
		for _, last := range files.Restored() {
			runs += max(1, len(last.Folded))
			if !last.Writer.IsZero() {
				require.NoError(t, k.Write(t.Context(), last))
			}
			for row := range last.AllCounters() {
				want[row.Key.String()] += row.Value
			}
			for _, u := range last.Uniques {
				sketch, err := decodeSketch(u.Scheme, u.Sketch)
				require.NoError(t, err)
				require.NoError(t, visitors.Merge(sketch))
			}
		}
		require.NoError(t, files.Close())
	}
	compare := func() {
		got := totals(t, k)
		for id, n := range want {
			if strings.HasPrefix(id, "chaos_") {
				assert.Equal(t, n, got[id], id)
			}
		}
		uniques, err := k.Uniques(t.Context(), export.Query{})
		require.NoError(t, err)
		require.Len(t, uniques, 1)
		assert.Equal(t, registers(t, visitors), registers(t, uniques[0].Sketch))
	}
	compare()
	expire(t, s.client(), k)
	swept, err := k.Sweep(t.Context())
	require.NoError(t, err)
	t.Logf("%d runs, of which %d were in the store one by one; %d series", runs, swept.Writers, len(want))
	compare()
}
