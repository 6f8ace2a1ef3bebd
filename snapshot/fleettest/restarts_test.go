package fleettest

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// A process counts in a directory of its own, run after run.
type process struct {
	child
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer

	known map[snapshot.WriterID]bool // runs that are in truth
	truth map[string]int64           // what its directory held of each run, added up
	sum   journal                    // over its runs
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), childEnv+"="+p.encode())
	p.cmd.Stderr = os.Stderr
	stdin, err := p.cmd.StdinPipe()
	require.NoError(p.t, err)
	p.stdin = stdin
	require.NoError(p.t, p.cmd.Start())
}

// kill ends the run at once, and takes stock of what it has left.
func (p *process) kill() {
	p.t.Helper()
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.takeStock()
}

// end waits until the run has exported all there is, as its standard input tells
// it to.
func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Wait())
	p.takeStock()
}

// takeStock adds to the truth what the directory has of the run that has just
// ended, after a look whether that can be.
func (p *process) takeStock() {
	p.t.Helper()
	j, err := readJournal(p.dir, p.run)
	require.NoError(p.t, err)
	held := map[string]int64{}
	for _, s := range p.load() {
		if s.Writer.IsZero() || p.known[s.Writer] {
			continue
		}
		p.known[s.Writer] = true
		for row := range s.AllCounters() {
			held[row.Key.String()] += row.Value
		}
	}
	p.check(j, held)
	for key, n := range held {
		if isOurs(key) {
			p.truth[key] += n
		}
	}
	p.sum.add(j)
	p.run++
}

// load returns what the directory has, nothing if there is none.
func (p *process) load() []*snapshot.Snapshot {
	p.t.Helper()
	if _, err := os.Stat(p.countsDir()); os.IsNotExist(err) {
		return nil
	}
	have, damaged, err := filesink.Load(p.countsDir())
	require.NoError(p.t, err)
	require.Empty(p.t, damaged, "a kill damages nothing")
	return have
}

// check looks whether each series' value is a sum over the beginning of the run's
// stream, between what was flushed and what was begun.
func (p *process) check(j journal, held map[string]int64) {
	p.t.Helper()
	names := seriesNames(p.t)
	var sums [seriesCount]int64
	var found [seriesCount]bool
	look := func(series int) {
		found[series] = found[series] || sums[series] == held[names[series]]
	}
	for k := range j.Begun {
		if k == j.Flushed {
			for series := range sums {
				look(series)
			}
		}
		for _, a := range p.batch(k) {
			sums[a.series] += a.n
			if k >= j.Flushed {
				look(a.series)
			}
		}
	}
	if j.Begun == j.Flushed {
		for series := range sums {
			look(series)
		}
	}
	for series, ok := range found {
		require.True(p.t, ok, "run %d of process %d left %d in %s, which it has never been since %d of %d batches were flushed",
			p.run, p.process, held[names[series]], names[series], j.Flushed, j.Begun)
	}
}

// seriesNames returns the text forms of all series.
func seriesNames(t testing.TB) (names [seriesCount]string) {
	t.Helper()
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	for i := range names {
		names[i] = counter(e, i).Key().String()
	}
	return names
}

// direct returns the sketch of all elements that the process was given.
func (p *process) direct() *hll.Sketch {
	p.t.Helper()
	s, err := hll.New(sketchesOf(p.process))
	require.NoError(p.t, err)
	for run := range p.run {
		j, err := readJournal(p.dir, run)
		require.NoError(p.t, err)
		for k := range j.Begun {
			for _, a := range (stream{p.process, run}).batch(k) {
				s.AddString(a.element)
			}
		}
	}
	return s
}
