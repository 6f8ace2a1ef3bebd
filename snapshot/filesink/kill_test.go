package filesink

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// The long form: go test ./snapshot/filesink -run TestKill -kills 1000
var kills = flag.Int("kills", 20, "how many times TestKill kills its child")

const childEnv = "HOTCOUNT_FILESINK_KILL_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// What the child says, one line each.
const (
	sayWriter   = "writer"   // its id
	sayRestored = "restored" // the lifetime total that it starts with
	sayAdd      = "add"      // how much it is about to count
	saySaved    = "saved"    // what it had counted by a snapshot that all sinks hold
	sayClosed   = "closed"   // that Close returned nil
)

// child counts in several goroutines, exports every few milliseconds to two
// directories, the second one playing a remote sink, and evicts, hands on and
// folds meanwhile. It ends when it is killed or its standard input ends.
func child(dir string) {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	local, err := Open(Options{Dir: filepath.Join(dir, "local"), Keep: 2})
	check(err)
	remote, err := Open(Options{Dir: filepath.Join(dir, "remote"), Keep: 2})
	check(err)
	src := newKillSource()
	say(sayWriter, src.writer)
	var prior []*snapshot.Snapshot
	for _, s := range local.Restored() {
		if !s.Writer.IsZero() {
			prior = append(prior, s)
		}
	}
	say(sayRestored, total(local.Restored()))
	e, err := export.New(export.Options{
		Source:   src,
		Sinks:    []export.Sink{local, remote},
		Interval: 2 * time.Millisecond,
		Prior:    prior,
		HandedOn: func(w snapshot.WriterID) { check(local.Fold(w)) },
	})
	check(err)

	stop := make(chan struct{})
	var adders sync.WaitGroup
	for range 4 {
		adders.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					src.add(rand.IntN(killSeries), 1+rand.Int64N(100))
				}
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(stop)
	adders.Wait()
	check(e.Close(context.Background()))
	say(sayClosed, 0)
}

func say(what string, value any) { fmt.Println(what, value) }

func total(snaps []*snapshot.Snapshot) (sum int64) {
	for _, s := range snaps {
		for c := range s.AllCounters() {
			sum += c.Value
		}
	}
	return sum
}

const killSeries = 8

// killSource is a small engine that evicts.
type killSource struct {
	writer snapshot.WriterID
	keys   [killSeries]series.Key

	mu      sync.Mutex
	seq     uint64
	counted int64
	rows    map[int]snapshot.CounterRow
	final   []evicted
	at      map[uint64]int64 // what was counted by each snapshot
}

type evicted struct {
	row   snapshot.CounterRow
	since uint64
}

func newKillSource() *killSource {
	d, err := series.NewDesc("hits_total", "series")
	if err != nil {
		panic(err)
	}
	s := &killSource{writer: snapshot.NewWriterID(), rows: map[int]snapshot.CounterRow{}, at: map[uint64]int64{}}
	for i := range s.keys {
		s.keys[i] = d.Key(fmt.Sprint(i))
	}
	return s
}

func (s *killSource) add(series int, n int64) {
	say(sayAdd, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[series]
	if !ok {
		row = snapshot.CounterRow{Key: s.keys[series], Created: time.Now().UnixNano()}
	}
	row.Value += n
	s.rows[series] = row
	s.counted += n
}

func (s *killSource) Snapshot(to *snapshot.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	s.at[s.seq] = s.counted
	victim := rand.IntN(killSeries)
	if row, ok := s.rows[victim]; ok {
		s.final = append(s.final, evicted{row, s.seq})
		delete(s.rows, victim)
	}
	to.Reset()
	to.Writer, to.Seq, to.Taken = s.writer, s.seq, time.Now()
	for _, row := range s.rows {
		to.Counters = append(to.Counters, row)
	}
	for _, e := range s.final {
		to.Final = append(to.Final, e.row)
	}
}

func (s *killSource) Acknowledge(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.final) > 0 && s.final[0].since <= seq {
		s.final = s.final[1:]
	}
	say(saySaved, s.at[seq])
}

// A life is what the parent learnt from one child.
type life struct {
	writer     string
	restored   int64
	added      int64
	saved      int64
	savings    int
	sawRestore bool
	closed     bool
}

// TestKill kills a counting child at random moments, and now and then lets it
// end in peace. After each life:
//  1. the local total has grown by at least what the last completed snapshot
//     held, and by at most what was counted: nothing lost, nothing doubled;
//  2. so has the remote total of that life's writer, and of every earlier one;
//  3. after an orderly end both have grown by exactly what was counted.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	var before int64
	lives := map[string]life{}
	saving := 0
	for i := range *kills {
		orderly := i%5 == 4
		l := liveAndDie(t, dir, orderly)
		lives[l.writer] = l
		if l.saved > 0 {
			saving++
		}

		local, damaged, err := Load(filepath.Join(dir, "local"))
		require.NoError(t, err)
		require.Empty(t, damaged, "a kill damages nothing")
		if l.sawRestore {
			require.Equal(t, before, l.restored, "life %d", i)
		}
		now := total(local)
		require.GreaterOrEqual(t, now-before, l.saved, "life %d lost counts", i)
		require.LessOrEqual(t, now-before, l.added, "life %d counted twice", i)
		if orderly {
			require.True(t, l.closed)
			require.Equal(t, l.added, now-before, "life %d ended in order", i)
		}
		before = now

		remote, damaged, err := Load(filepath.Join(dir, "remote"))
		require.NoError(t, err)
		require.Empty(t, damaged)
		for _, s := range remote {
			past, ok := lives[s.Writer.String()]
			require.True(t, ok, "writer %s never lived", s.Writer)
			held := total([]*snapshot.Snapshot{s})
			require.GreaterOrEqual(t, held, past.saved)
			require.LessOrEqual(t, held, past.added)
		}
	}
	t.Logf("%d lives, %d of them saved; %d counts", *kills, saving, before)
	require.Positive(t, saving)
}

// Most lives end after some savings, to the line; some before the first one.
const (
	maxSavings   = 10
	maxLinesMore = 300
)

// liveAndDie runs a child until it has saved a random number of times and then
// said a random number of lines.
func liveAndDie(t *testing.T, dir string, orderly bool) (l life) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	end := cmd.Process.Kill
	if orderly {
		end = stdin.Close
	}
	said := bufio.NewScanner(stdout)
	savings, lines := rand.IntN(maxSavings), 1+rand.IntN(maxLinesMore)
	for {
		if l.savings >= savings {
			if lines--; lines == 0 {
				require.NoError(t, end())
			}
		}
		if !said.Scan() {
			break
		}
		l.hear(t, said.Text())
	}
	require.NoError(t, said.Err())
	err = cmd.Wait()
	if orderly {
		require.NoError(t, err, stderr.String())
	}
	require.Empty(t, stderr.String())
	return l
}

func (l *life) hear(t *testing.T, line string) {
	t.Helper()
	what, value, _ := strings.Cut(line, " ")
	var n int64
	if what == sayWriter {
		l.writer = value
		return
	}
	_, err := fmt.Sscan(value, &n)
	require.NoError(t, err, line)
	switch what {
	case sayRestored:
		l.restored, l.sawRestore = n, true
	case sayAdd:
		l.added += n
	case saySaved:
		l.saved = max(l.saved, n)
		l.savings++
	case sayClosed:
		l.closed = true
	default:
		require.Fail(t, "child said "+line)
	}
}
