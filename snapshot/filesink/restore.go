package filesink

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hotcount/hotcount/snapshot"
)

// ErrUnreadable is wrapped by Open's error when there are files of a writer, or
// of the base, and none of them can be read. Nothing has been changed then.
var ErrUnreadable = errors.New("hotcount/filesink: no readable snapshot left")

// A Damage is a snapshot file that could not be read.
type Damage struct {
	Name string // the file's name when it was found
	Err  error
}

// listing is a directory sorted by what its names say.
type listing struct {
	generations map[snapshot.WriterID][]generation // by rising seq
	temps       []string
	taken       map[string]bool // all names
	lastBase    uint64          // the greatest seq of any base file, damaged ones too
}

func sortOut(entries []entry) listing {
	l := listing{generations: map[snapshot.WriterID][]generation{}, taken: map[string]bool{}}
	for _, e := range entries {
		l.taken[e.name] = true
		if !e.regular {
			continue
		}
		if isTemp(e.name) {
			l.temps = append(l.temps, e.name)
			continue
		}
		intact := strings.TrimSuffix(e.name, damagedSuffix)
		w, seq, ok := parseName(intact)
		if !ok {
			continue
		}
		if w.IsZero() {
			l.lastBase = max(l.lastBase, seq)
		}
		if intact == e.name {
			l.generations[w] = append(l.generations[w], generation{seq, e.modTime})
		}
	}
	return l
}

// contents is what the files of a directory say.
type contents struct {
	base    *snapshot.Snapshot   // nil before the first fold
	writers []*snapshot.Snapshot // those not in base, by id
	damaged []Damage
	lost    []snapshot.WriterID // lineages with files but none readable
}

func read(fs filesystem, l listing) (contents, error) {
	var c contents
	folded := map[snapshot.WriterID]bool{}
	// The base has the least id, so it is read before what it may list.
	for _, w := range slices.SortedFunc(maps.Keys(l.generations), snapshot.WriterID.Compare) {
		if folded[w] {
			continue
		}
		s, err := c.readNewest(fs, w, l.generations[w])
		switch {
		case err != nil:
			return contents{}, err
		case s == nil:
			c.lost = append(c.lost, w)
		case w.IsZero():
			c.base = s
			for _, f := range s.Folded {
				folded[f.Writer] = true
			}
		default:
			c.writers = append(c.writers, s)
		}
	}
	return c, nil
}

// readNewest returns the newest undamaged generation, nil if there is none.
func (c *contents) readNewest(fs filesystem, w snapshot.WriterID, generations []generation) (*snapshot.Snapshot, error) {
	for _, g := range slices.Backward(generations) {
		name := fileName(w, g.seq)
		s, err := readFile(fs, name)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, snapshot.ErrCorrupt) {
			return nil, fmt.Errorf("hotcount/filesink: read %s: %w", name, err)
		}
		c.damaged = append(c.damaged, Damage{name, err})
	}
	return nil, nil
}

func readFile(fs filesystem, name string) (*snapshot.Snapshot, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := new(snapshot.Snapshot)
	if _, err := s.ReadFrom(f); err != nil {
		return nil, err
	}
	if fileName(s.Writer, s.Seq) != name {
		return nil, fmt.Errorf("%w: it holds %s", snapshot.ErrCorrupt, fileName(s.Writer, s.Seq))
	}
	return s, nil
}

// restore reads the directory, sets damaged files aside and removes what an
// interrupted write left. Nothing else can be writing: the lock is held.
func (k *Sink) restore(o Options) error {
	entries, err := k.fs.List()
	if err != nil {
		return fmt.Errorf("hotcount/filesink: list directory: %w", err)
	}
	l := sortOut(entries)
	c, err := read(k.fs, l)
	if err != nil {
		return err
	}
	if len(c.lost) > 0 && !o.StartOver {
		return unreadable(o.Dir, c)
	}
	if err := k.setAside(l, c.damaged); err != nil {
		return err
	}
	for _, t := range l.temps {
		if err := k.fs.Remove(t); err != nil {
			return fmt.Errorf("hotcount/filesink: remove unfinished %s: %w", t, err)
		}
	}
	k.adopt(l, c)
	return nil
}

// setAside renames damaged files and takes them off the listing.
func (k *Sink) setAside(l listing, damaged []Damage) error {
	if len(damaged) == 0 {
		return nil
	}
	for _, d := range damaged {
		aside := d.Name + damagedSuffix
		for l.taken[aside] {
			aside += damagedSuffix
		}
		if err := k.fs.Rename(d.Name, aside); err != nil {
			return fmt.Errorf("hotcount/filesink: set aside %s: %w", d.Name, err)
		}
		k.log.Warn("hotcount/filesink: damaged snapshot set aside", "file", aside, "error", d.Err)
		w, seq, _ := parseName(d.Name)
		l.generations[w] = slices.DeleteFunc(l.generations[w], func(g generation) bool { return g.seq == seq })
	}
	if err := k.fs.Sync(); err != nil {
		return fmt.Errorf("hotcount/filesink: sync directory: %w", err)
	}
	return nil
}

func unreadable(dir string, c contents) error {
	var errs []error
	for _, d := range c.damaged {
		errs = append(errs, fmt.Errorf("%s: %w", d.Name, d.Err))
	}
	return fmt.Errorf("%w: restore what is damaged in %s from a backup, or move it elsewhere to go on without its counts, as Options.StartOver does: %w",
		ErrUnreadable, dir, errors.Join(errs...))
}

// adopt makes what was read the sink's state.
func (k *Sink) adopt(l listing, c contents) {
	k.base = c.base
	k.baseSeq = l.lastBase
	k.damaged = c.damaged
	for _, s := range c.writers {
		k.dead[s.Writer] = s
		k.lineages[s.Writer] = &lineage{newest: s.Seq}
	}
	if c.base != nil {
		for _, f := range c.base.Folded {
			k.folded[f.Writer] = fold{seq: f.Seq, base: c.base.Seq}
		}
	}
	now := time.Now()
	for w, generations := range l.generations {
		for i := range generations {
			generations[i].written = onMonotonicClock(generations[i].written, now)
		}
		if k.lineages[w] == nil {
			k.lineages[w] = &lineage{}
		}
		k.lineages[w].generations = generations
		if f, ok := k.folded[w]; ok && k.lineages[w].newestFile() > f.seq {
			k.log.Warn("hotcount/filesink: writer has snapshots newer than the one in the base; they are kept, but do not count", "writer", w, "folded", f.seq)
		}
	}
}

// onMonotonicClock returns a file's time as one that ages by the monotonic clock
// from now on. A time in the future, of before the wall clock was set back, is
// taken for now: the file would not get old enough to be removed.
func onMonotonicClock(written, now time.Time) time.Time {
	return now.Add(-max(0, now.Sub(written)))
}
