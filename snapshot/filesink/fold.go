package filesink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	// baseKeep is how many generations of the base are kept.
	baseKeep = 2

	// maxFolded is how many folded writers without files the base goes on
	// listing, the newest. They are listed in case a copy of their file
	// comes back; a thousand restarts later it would be counted again, and
	// the list, some 20 bytes a writer, would be no longer small.
	maxFolded = 1024
)

// A fold is what is known of a folded writer: the seq at which it was, and the
// first base that has it as far as this sink knows.
type fold struct {
	seq  uint64
	base uint64
}

// Fold adds the restored snapshots of these writers to the base, after which
// Restored no longer lists them and no sink may need them: call it when every
// other sink holds them. Gauges are dropped. A writer already folded is no
// error. If a snapshot has sections that this program does not know, because a
// newer one wrote it, Fold fails and changes nothing.
//
// A new base that lists the writers is durable before any of their files goes,
// and the list makes a reader pass over files that are still there, so a crash
// at any point neither loses them nor counts them twice. Their files stay until
// every generation of the base has them, so that a damaged base loses nothing
// either.
func (k *Sink) Fold(writers ...snapshot.WriterID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return fmt.Errorf("%w: fold", ErrClosed)
	}
	var add []*snapshot.Snapshot
	for _, w := range writers {
		if _, ok := k.folded[w]; ok {
			continue
		}
		s := k.dead[w]
		if s == nil {
			return fmt.Errorf("hotcount/filesink: fold: writer %s is none of an earlier run", w)
		}
		if !slices.Contains(add, s) {
			add = append(add, s)
		}
	}
	if len(add) == 0 {
		return nil
	}
	if k.base != nil {
		add = append(add, k.base)
	}
	if i := slices.IndexFunc(add, func(s *snapshot.Snapshot) bool { return s.Skipped > 0 }); i >= 0 {
		return fmt.Errorf("hotcount/filesink: fold: %s has sections of a newer format version", fileName(add[i].Writer, add[i].Seq))
	}
	base := k.sum(add)
	if err := k.put(context.Background(), base); err != nil {
		return err
	}
	k.base, k.baseSeq = base, base.Seq
	for _, s := range add {
		if s.Writer.IsZero() {
			continue
		}
		k.folded[s.Writer] = fold{seq: s.Seq, base: base.Seq}
		delete(k.dead, s.Writer)
	}
	k.clean()
	return nil
}

// sum returns the base that sums up these snapshots.
func (k *Sink) sum(parts []*snapshot.Snapshot) *snapshot.Snapshot {
	next := &snapshot.Snapshot{Seq: k.baseSeq + 1, Folded: k.listed()}
	most := slices.MaxFunc(parts, func(a, b *snapshot.Snapshot) int { return len(a.Counters) - len(b.Counters) })
	counters := sums{at: make(map[series.Key]int, len(most.Counters))}
	var uniques uniqueSums
	var windows newest[snapshot.WindowRows]
	var uniquesWindows newest[snapshot.UniquesWindowRows]
	for i, s := range parts {
		for c := range s.AllCounters() {
			counters.add(c)
		}
		for _, u := range s.Uniques {
			uniques.add(u)
		}
		for _, w := range s.Windows {
			windows.add(w.Key, w, s.Taken)
		}
		for _, w := range s.UniquesWindows {
			uniquesWindows.add(w.Key, w, s.Taken)
		}
		if i == 0 || s.Started.Before(next.Started) {
			next.Started = s.Started
		}
		if s.Taken.After(next.Taken) {
			next.Taken = s.Taken
		}
		if !s.Writer.IsZero() {
			next.Folded = append(next.Folded, snapshot.Fold{Writer: s.Writer, Seq: s.Seq})
		}
	}
	next.Counters, next.Uniques = counters.rows, uniques.rows
	next.Windows, next.UniquesWindows = windows.rows, uniquesWindows.rows
	return next
}

// listed returns the folded writers that the next base must still list.
func (k *Sink) listed() []snapshot.Fold {
	if k.base == nil {
		return nil
	}
	folds := slices.Clone(k.base.Folded)
	slices.SortFunc(folds, func(a, b snapshot.Fold) int { return b.Writer.Compare(a.Writer) })
	n := 0
	return slices.DeleteFunc(folds, func(f snapshot.Fold) bool {
		n++
		return n > maxFolded && k.lineages[f.Writer] == nil
	})
}

// clean removes old bases, then the files that every base left can do without.
func (k *Sink) clean() {
	var zero snapshot.WriterID
	base := k.lineages[zero]
	if base == nil {
		base = &lineage{}
		k.lineages[zero] = base
	}
	base.generations = append(base.generations, generation{k.baseSeq, time.Now()})
	k.prune(zero, base, baseKeep, 0)
	if len(base.generations) < baseKeep {
		return
	}
	for w, f := range k.folded {
		l := k.lineages[w]
		if l == nil || f.base > base.generations[0].seq || l.newestFile() > f.seq {
			continue
		}
		k.prune(w, l, 0, 0)
		if len(l.generations) == 0 {
			delete(k.lineages, w)
		}
	}
}
