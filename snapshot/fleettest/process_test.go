package fleettest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// childEnv makes the test binary one of the processes of a fleet.
const childEnv = "HOTCOUNT_FLEET_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		if err := live(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	exportEvery = 200 * time.Millisecond
	batchEvery  = 2 * time.Millisecond
	flushWithin = 500 * time.Millisecond
	idleAfter   = time.Second

	// endWithin is for how long a process may try to get rid of all it has.
	endWithin = time.Minute
)

// sketchesOf returns how a process hashes elements: a fleet may do it both ways.
func sketchesOf(process int) hll.Options {
	return hll.Options{Hash: []hll.Hash{hll.XXHash, hll.Redis}[process%2]}
}

// A child is a run of a process.
type child struct {
	stream
	store *store
	addr  string
	dir   string
}

// encode and decode take a child from one process to the other.
func (c child) encode() string {
	return fmt.Sprintf("%d %d %s %s %s", c.process, c.run, c.store.name, c.addr, c.dir)
}

func decode(text string) (c child, err error) {
	var name string
	_, err = fmt.Sscan(text, &c.process, &c.run, &name, &c.addr, &c.dir)
	if err != nil {
		return c, err
	}
	i := slices.IndexFunc(stores, func(s *store) bool { return s.name == name })
	c.store = stores[i]
	return c, nil
}

func (c child) countsDir() string { return c.dir + "/counts" }

// live is the whole life of a child: it counts until its standard input ends, then
// exports all that its directory has.
func live(text string) error {
	c, err := decode(text)
	if err != nil {
		return err
	}
	again, err := c.unacknowledged()
	if err != nil {
		return err
	}
	notes, err := newWriting(c.dir, c.run)
	if err != nil {
		return err
	}
	e, err := c.engine(notes)
	if err != nil {
		return err
	}
	counting := newCounting(e)
	for _, element := range again {
		counting.visitors.AddString(element)
	}
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	var done atomic.Uint64 // batches
	var flusher sync.WaitGroup
	flusher.Go(func() { flush(e, notes, &done, stop) })
	c.count(counting, notes, &done, stop)
	flusher.Wait()
	return c.end(e, notes, done.Load())
}

// engine starts an engine whose store gets each snapshot after the directory.
func (c child) engine(notes *writing) (*hotcount.Engine, error) {
	earlier, _, err := filesink.Load(c.countsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	to, err := c.store.open(c.addr, client{})
	if err != nil {
		return nil, err
	}
	after := &afterDir{Sink: to.Sink, notes: notes, started: make(chan struct{})}
	for _, s := range earlier {
		after.earlier = append(after.earlier, s.Writer)
	}
	after.engine, err = hotcount.New(hotcount.Options{
		Dir:      c.countsDir(),
		Interval: exportEvery,
		Sinks:    []export.Sink{after},
		Limits:   hotcount.Limits{IdleAfter: idleAfter},
		Uniques:  sketchesOf(c.process),
		Logger:   slog.New(slog.DiscardHandler), // failures are what this is about
	})
	close(after.started)
	return after.engine, err
}

// An afterDir is a sink that waits until the directory holds a snapshot.
type afterDir struct {
	export.Sink
	notes   *writing
	earlier []snapshot.WriterID
	sum     journal

	started chan struct{} // closed when there is an engine
	engine  *hotcount.Engine
}

func (a *afterDir) Write(ctx context.Context, s *snapshot.Snapshot) error {
	if !slices.Contains(a.earlier, s.Writer) {
		<-a.started
		look := time.NewTicker(time.Millisecond)
		defer look.Stop()
		for a.engine.ExportStats().Sinks[0].Acked < s.Seq {
			select {
			case <-look.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if err := a.Sink.Write(ctx, s); err != nil {
		a.sum.Refused++
		a.notes.note(atRefused, a.sum.Refused)
		return err
	}
	a.sum.Writes++
	a.sum.Rows += uint64(len(s.Counters) + len(s.Final) + len(s.Uniques))
	a.notes.note(atWrites, a.sum.Writes)
	a.notes.note(atRows, a.sum.Rows)
	return nil
}

// unacknowledged returns the elements that earlier runs may have lost, which are
// delivered once more, as a queue does.
func (c child) unacknowledged() (elements []string, err error) {
	for run := c.run - 1; run >= 0; run-- {
		j, err := readJournal(c.dir, run)
		if err != nil {
			return nil, err
		}
		for k := j.Flushed; k < j.Begun; k++ {
			for _, a := range (stream{c.process, run}).batch(k) {
				elements = append(elements, a.element)
			}
		}
		if j.Flushes > 0 { // with it came what this run had delivered again
			break
		}
	}
	return elements, nil
}

func (c child) count(to *counting, notes *writing, done *atomic.Uint64, stop <-chan struct{}) {
	tick := time.NewTicker(batchEvery)
	defer tick.Stop()
	for k := uint64(0); ; k++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		notes.note(atBegun, k+1)
		for _, a := range c.batch(k) {
			to.add(a)
		}
		done.Store(k + 1)
	}
}

// flush flushes again and again, and notes what that has acknowledged.
func flush(e *hotcount.Engine, notes *writing, done *atomic.Uint64, stop <-chan struct{}) {
	tick := time.NewTicker(exportEvery)
	defer tick.Stop()
	for good, bad := uint64(0), uint64(0); ; {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		counted := done.Load()
		ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
		err := e.Flush(ctx)
		cancel()
		if err != nil {
			bad++
			notes.note(atFailed, bad)
			continue
		}
		good++
		notes.note(atFlushed, counted)
		notes.note(atFlushes, good)
	}
}

// end closes the engine once the store holds all that the directory has: the
// snapshots of earlier runs, and then the last one of this.
func (c child) end(e *hotcount.Engine, notes *writing, done uint64) error {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		within, stop := context.WithTimeout(ctx, flushWithin)
		err := e.Flush(within)
		stop()
		have, _, loadErr := filesink.Load(c.countsDir())
		if loadErr != nil {
			return loadErr
		}
		have = slices.DeleteFunc(have, func(s *snapshot.Snapshot) bool { return s.Writer.IsZero() })
		if err == nil && len(have) == 1 {
			break
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%d runs are left to be exported: %w", len(have)-1, err)
		}
	}
	if err := e.Close(ctx); err != nil {
		return err
	}
	notes.note(atFlushed, done)
	return nil
}

// isOurs reports whether a series is one that the processes count.
func isOurs(key string) bool { return strings.HasPrefix(key, "fleet_") }
