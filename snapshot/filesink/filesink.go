package filesink

// How it works. The directory holds lineages: for each writer the newest few
// snapshots, its generations, one file each. Files are written once, under a
// temporary name, and never changed. A lineage's state is its newest readable
// file, alone: each holds the whole of what its writer has counted.
//
//	writer W, running     W-7.hcs  W-8.hcs  W-9.hcs    Write adds W-10, drops W-7
//	writer V, dead        V-41.hcs V-42.hcs V-43.hcs   Fold adds V-43 to the base
//	the base              0-3.hcs  0-4.hcs             Fold writes 0-5, drops 0-3
//
// The base is the lineage of the zero writer. Its snapshot sums up the folded
// writers and lists them, in one file, so that both change in one step. A
// reader passes over the files of writers that the base lists.
//
// Rows that leave Snapshot.Final are added up here, per series, and written
// with every later snapshot of their writer as Retired. So the file stays the
// whole of what the writer counted although the engine lets go of idle series.
//
// Invariants:
//  1. A file under its final name is whole and durable, or its put has not
//     returned.
//  2. A file is removed only after a durable file that makes it superfluous: a
//     newer generation, or baseKeep generations of the base.
//  3. Nothing that cannot be read is removed.
//
// Considered and rejected: a log of differences, which would be written faster
// when few series change, but whose replay makes recovery depend on every file
// since the last full one; folding retired rows into the base as they come,
// which makes a state out of two files and needs a list of the rows that are in
// both; keys as file names, which lets a label value choose a path.
//
// Limits: a retired series costs a row in memory and in every file, until the
// writer is folded. Fold holds two bases in memory.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/snapshot"
)

// ErrClosed is wrapped by the errors of a closed Sink.
var ErrClosed = errors.New("hotcount/filesink: closed")

// Options say where and how a Sink keeps snapshots. The zero value of every
// field but Dir is a default.
type Options struct {
	// Dir is the directory. Open makes it, readable by its owner only, if
	// it does not exist. Nothing else should be kept in it.
	Dir string

	// Keep is how many generations of a writer's snapshot to keep at least.
	// The older ones stand in when the newest is damaged, and show rates. 0
	// means 3.
	Keep int

	// KeepFor keeps generations beyond Keep until they are this old.
	KeepFor time.Duration

	// StartOver lets Open go on where it would fail with ErrUnreadable. The
	// counts in the damaged files are then missing from every total; the
	// files are kept under another name.
	StartOver bool

	// Logger gets warnings about damaged files. nil means slog.Default().
	Logger *slog.Logger
}

const defaultKeep = 3

// A Sink keeps snapshots in a directory. Its methods may be called from any
// number of goroutines; they run one at a time, so each may take as long as the
// one before it.
type Sink struct {
	keep    int
	keepFor time.Duration
	log     *slog.Logger
	fs      filesystem
	close   func() error

	mu       sync.Mutex
	closed   bool
	attempts uint64 // at writing a file
	lineages map[snapshot.WriterID]*lineage
	dead     map[snapshot.WriterID]*snapshot.Snapshot // restored and not folded
	base     *snapshot.Snapshot                       // never changed, only replaced
	baseSeq  uint64
	folded   map[snapshot.WriterID]fold
	damaged  []Damage
}

var _ export.Sink = (*Sink)(nil)

// Open locks the directory and restores what is in it. It reads one file a
// writer whole, older generations only if that is damaged.
//
// The error wraps ErrLocked if another Sink is open on the directory,
// ErrUnreadable if counts would be missing, and snapshot.ErrVersion if a newer
// program has written there. After any error the directory is unchanged, but
// that damaged files may have been set aside for which there are older ones.
func Open(o Options) (*Sink, error) {
	if o.Keep < 0 || o.KeepFor < 0 {
		return nil, fmt.Errorf("hotcount/filesink: Options: negative Keep %d or KeepFor %v", o.Keep, o.KeepFor)
	}
	if o.Dir == "" {
		return nil, errors.New("hotcount/filesink: Options.Dir is empty")
	}
	if err := makeDir(o.Dir); err != nil {
		return nil, fmt.Errorf("hotcount/filesink: %w", err)
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("hotcount/filesink: %w", err)
	}
	lock, err := lockDir(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	k, err := open(o, rootDir{root})
	if err != nil {
		return nil, errors.Join(err, root.Close(), lock.Close())
	}
	k.close = func() error { return errors.Join(root.Close(), lock.Close()) }
	return k, nil
}

// open is Open on a directory that is already locked.
func open(o Options, fs filesystem) (*Sink, error) {
	k := &Sink{
		keep:     o.Keep,
		keepFor:  o.KeepFor,
		log:      o.Logger,
		fs:       fs,
		close:    func() error { return nil },
		lineages: map[snapshot.WriterID]*lineage{},
		dead:     map[snapshot.WriterID]*snapshot.Snapshot{},
		folded:   map[snapshot.WriterID]fold{},
	}
	if k.keep == 0 {
		k.keep = defaultKeep
	}
	if k.log == nil {
		k.log = slog.Default()
	}
	return k, k.restore(o)
}

// Restored returns the state that earlier runs left, as Open found it and Fold
// has changed it since: the base first, if there is one, which has the zero
// WriterID and sums up the writers folded so far, then the last snapshot of
// every other writer. A series' lifetime total is the sum of its rows in all of
// them (AllCounters) and in the running writer's own snapshot.
//
// Snapshots other than the base are to be handed on to the other sinks, under
// their own writer id, and then folded. The caller must not change them.
func (k *Sink) Restored() []*snapshot.Snapshot {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*snapshot.Snapshot
	if k.base != nil {
		all = append(all, k.base)
	}
	for _, w := range slices.SortedFunc(maps.Keys(k.dead), snapshot.WriterID.Compare) {
		all = append(all, k.dead[w])
	}
	return all
}

// Damaged returns the files that Open could not read and has set aside.
func (k *Sink) Damaged() []Damage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.damaged)
}

// String returns "filesink", the sink's name in logs and health series.
func (k *Sink) String() string { return "filesink" }

// Write makes s durable: it has been fsynced, and so has its name, when Write
// returns nil. It takes the time of encoding it, two fsyncs and a rename.
//
// It keeps snapshots of any writer, those of earlier ones too. The error
// wraps export.ErrTooLate if the writer has been folded at an earlier seq: its
// rows are part of a sum that cannot be taken apart.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return fmt.Errorf("%w: write", ErrClosed)
	}
	if s.Writer.IsZero() {
		return errors.New("hotcount/filesink: write: snapshot without a writer")
	}
	if f, ok := k.folded[s.Writer]; ok {
		if s.Seq > f.seq {
			return fmt.Errorf("hotcount/filesink: write: %w: writer %s, snapshot %d of %d", export.ErrTooLate, s.Writer, f.seq, s.Seq)
		}
		return nil
	}
	l := k.lineages[s.Writer]
	if l == nil {
		l = &lineage{}
		k.lineages[s.Writer] = l
	}
	if s.Seq <= l.newest {
		return nil
	}
	restored := k.dead[s.Writer] // by us, while someone has kept a newer one
	if restored != nil {
		l.resume(restored)
	}
	l.observe(s)
	whole := *s
	whole.Retired = l.retired.rows
	if err := k.put(ctx, &whole); err != nil {
		return err
	}
	if restored != nil {
		again, err := readFile(k.fs, fileName(s.Writer, s.Seq))
		if err != nil {
			return fmt.Errorf("hotcount/filesink: read back: %w", err)
		}
		k.dead[s.Writer] = again
	}
	l.newest = s.Seq
	l.generations = append(l.generations, generation{s.Seq, time.Now()})
	k.prune(s.Writer, l, k.keep, k.keepFor)
	return nil
}

// prune removes the generations beyond the newest keep that are older than
// keepFor. What cannot be removed now is tried again next time.
func (k *Sink) prune(w snapshot.WriterID, l *lineage, keep int, keepFor time.Duration) {
	for len(l.generations) > keep && time.Since(l.generations[0].written) >= keepFor {
		err := k.fs.Remove(fileName(w, l.generations[0].seq))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.log.Warn("hotcount/filesink: old snapshot not removed", "error", err)
			return
		}
		l.generations = l.generations[1:]
	}
}

// Close releases the directory. It waits for a running Write. Further calls do
// nothing.
func (k *Sink) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	k.closed = true
	return k.close()
}
