package natssink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

// How a roll-up works. The sums are rows of the zero writer, and a round is a flush
// of it, with two differences: anybody may carry it on, and its standing names the
// writers that it adds up.
//
//	freeze ──▶ claim ──▶ sum, sum, …, sum ──▶ commit ──▶ bury
//	  │          │                              │          │
//	Dead in    Folded = the frozen ones,     Seq + 1,    Gone in each standing,
//	each       Pending is set                no Pending  and its rows purged
//	standing
//
// Freezing is a compare-and-set on a writer's standing, so no flush of it can end
// any more; what its rows were in its last whole snapshot stands in them, as Value
// or Prior, and can no longer change. So the claim, one message, settles what each
// sum of the round will be, and whoever carries it on finds the same. The commit,
// one message too, makes the new sums count and the named rows not: a reader never
// sees both or neither. A round that stops anywhere is carried on by the next
// Compact; one that carries on what another has ended fails at a compare-and-set,
// of a sum or of the commit.
//
// Rejected: names of the folded writers in each sum (a long list in each of many
// messages, and readers who know some of it); a new generation of all sums with a
// switch at the end (as many messages as series each time).

const (
	// perRound bounds a claim to 64 KB.
	perRound = 4000

	// goneFor is for how long a standing outlives its writer's rows. A packet
	// that is later could bring rows back, and a process that slept for longer
	// would not be told.
	goneFor = 30 * 24 * time.Hour
)

// Compacted is what a Compact did.
type Compacted struct {
	Writers int // that have been added up now
	Rows    int // of theirs that the sums have taken up
}

// Compact adds up the rows of writers that have not flushed for a lease, by the
// server's clock, and removes them, some writers at a time. A process that was only
// late goes on under a new id. Any number of processes may call Compact at any
// time, and it may break off anywhere; one that does so with ErrInterrupted found
// another one at it.
//
// The lease is much longer than the time between flushes; an hour is a good one.
func (k *Sink) Compact(ctx context.Context, lease time.Duration) (Compacted, error) {
	if lease <= 0 {
		return Compacted{}, fmt.Errorf("hotcount/natssink: a lease of %v", lease)
	}
	var all Compacted
	stream, err := k.open(ctx, k.name)
	if err != nil {
		return all, err
	}
	for gaps := 0; ; {
		one, err := k.round(ctx, stream, lease)
		all.Writers += one.Writers
		all.Rows += one.Rows
		if errors.Is(err, errGap) && gaps < maxReads {
			gaps++
			continue
		}
		if err != nil || one.Writers == 0 {
			return all, err
		}
	}
}

// round carries on the round that is under way, or begins one.
func (k *Sink) round(ctx context.Context, stream jetstream.Stream, lease time.Duration) (Compacted, error) {
	base, at, err := k.standing(ctx, stream, snapshot.WriterID{})
	if err != nil {
		return Compacted{}, err
	}
	if base.Pending.IsZero() {
		if at, err = k.bury(ctx, stream, &base, at, nil); err != nil {
			return Compacted{}, err
		}
		if at, err = k.claim(ctx, stream, &base, at, lease); err != nil || len(base.Folded) == 0 {
			return Compacted{}, err
		}
	}
	sums, err := k.sum(ctx, stream, &base)
	if err != nil {
		return Compacted{}, err
	}
	base.Seq, base.Mark, base.Pending = base.Seq+1, base.Pending, sinkkit.Mark{}
	if at, err = k.putBase(ctx, base, at); err != nil {
		return Compacted{}, err
	}
	done := Compacted{Writers: len(base.Folded), Rows: sums.Rows}
	_, err = k.bury(ctx, stream, &base, at, sums.subjects)
	return done, err
}

func (k *Sink) putBase(ctx context.Context, base rowstream.Standing, at uint64) (uint64, error) {
	at, err := k.putStanding(ctx, base, at)
	if errors.Is(err, errOvertaken) {
		err = fmt.Errorf("hotcount/natssink: %w: another Compact", export.ErrInterrupted)
	}
	return at, err
}

// claim freezes some writers that are dead, and makes base a claim to them. Without
// any, base.Folded is empty.
func (k *Sink) claim(ctx context.Context, stream jetstream.Stream, base *rowstream.Standing, at uint64, lease time.Duration) (uint64, error) {
	at, err := k.putBase(ctx, *base, at) // for the time
	if err != nil {
		return 0, err
	}
	m, err := k.last(ctx, stream, k.writerSubject(base.Writer))
	if err != nil {
		return 0, err
	}
	if m == nil || m.Sequence != at {
		return 0, fmt.Errorf("hotcount/natssink: %w: another Compact", export.ErrInterrupted)
	}
	dead, old, err := k.dead(ctx, m.Time, lease)
	if err != nil {
		return 0, err
	}
	if err := k.forget(ctx, stream, old); err != nil {
		return 0, err
	}
	base.Folded, err = k.freeze(ctx, dead[:min(len(dead), perRound)])
	if err != nil || len(base.Folded) == 0 {
		return at, err
	}
	base.Pending = sinkkit.NewMark()
	return k.putBase(ctx, *base, at)
}

// dead returns the standings of writers that are to be added up, with the messages
// that they are in, and those of the writers that were long ago.
func (k *Sink) dead(ctx context.Context, now time.Time, lease time.Duration) (dead []received, old []snapshot.WriterID, err error) {
	newest := make(map[snapshot.WriterID]received)
	err = k.read(ctx, k.name, k.name+"."+writerToken+".>", func(m *received) error {
		if m.message.Standing != nil {
			newest[m.message.Standing.Writer] = *m
		}
		return nil
	}, nil)
	for w, m := range newest {
		switch st, age := m.message.Standing, now.Sub(m.when); {
		case w.IsZero():
		case st.Gone:
			if age > k.goneFor {
				old = append(old, w)
			}
		case st.Dead || age > lease:
			dead = append(dead, m)
		}
	}
	slices.SortFunc(dead, func(a, b received) int {
		return a.message.Standing.Writer.Compare(b.message.Standing.Writer)
	})
	return dead, old, err
}

// freeze makes writers dead, and returns those that were so or have become so. A
// writer that flushes meanwhile is none.
func (k *Sink) freeze(ctx context.Context, dead []received) ([]snapshot.WriterID, error) {
	frozen := make([]bool, len(dead))
	err := each(ctx, dead, func(ctx context.Context, i int, m received) error {
		st := *m.message.Standing
		if !st.Dead {
			st.Dead, st.Pending = true, sinkkit.Mark{}
			_, err := k.putStanding(ctx, st, m.at)
			if errors.Is(err, errOvertaken) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		frozen[i] = true
		return nil
	})
	var ids []snapshot.WriterID
	for i, m := range dead {
		if frozen[i] {
			ids = append(ids, m.message.Standing.Writer)
		}
	}
	return ids, err
}

// bury removes the rows of the writers in base.Folded, which do not count any more,
// and then their names from base. They are under subjects, which it looks up if
// there are none.
func (k *Sink) bury(ctx context.Context, stream jetstream.Stream, base *rowstream.Standing, at uint64, subjects []string) (uint64, error) {
	if len(base.Folded) == 0 {
		return at, nil
	}
	var err error
	if subjects == nil {
		if subjects, err = k.subjectsOf(ctx, base.Folded); err != nil {
			return 0, err
		}
	}
	if err := purge(ctx, stream, subjects); err != nil {
		return 0, err
	}
	err = each(ctx, base.Folded, func(ctx context.Context, _ int, w snapshot.WriterID) error {
		st, at, err := k.standing(ctx, stream, w)
		if err != nil || st.Gone {
			return err
		}
		st.Dead, st.Gone = true, true
		if _, err = k.putStanding(ctx, st, at); errors.Is(err, errOvertaken) {
			err = nil // by another one who does the same
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	base.Folded = nil
	return k.putBase(ctx, *base, at)
}

// forget removes standings of writers that have been gone for long, after rows that
// a late message may have brought back.
func (k *Sink) forget(ctx context.Context, stream jetstream.Stream, old []snapshot.WriterID) error {
	if len(old) == 0 {
		return nil
	}
	subjects, err := k.subjectsOf(ctx, old)
	if err != nil {
		return err
	}
	if err := purge(ctx, stream, subjects); err != nil {
		return err
	}
	subjects = subjects[:0]
	for _, w := range old {
		subjects = append(subjects, k.writerSubject(w))
	}
	return purge(ctx, stream, subjects)
}

// subjectsOf returns those of the writers' rows.
func (k *Sink) subjectsOf(ctx context.Context, writers []snapshot.WriterID) ([]string, error) {
	all := make(map[snapshot.WriterID]bool, len(writers))
	for _, w := range writers {
		all[w] = true
	}
	var subjects []string
	for _, token := range [...]string{counterToken, uniquesToken} {
		if err := k.read(ctx, k.name, k.name+"."+token+".>", func(m *received) error {
			if len(m.message.Rows) > 0 && all[m.message.Rows[0].Writer] {
				subjects = append(subjects, m.subject)
			}
			return nil
		}, nil); err != nil {
			return nil, err
		}
	}
	return subjects, nil
}

// purge removes what is under subjects. One at a time: with a wildcard a server
// looks at all of its subjects.
func purge(ctx context.Context, stream jetstream.Stream, subjects []string) error {
	return each(ctx, subjects, func(ctx context.Context, _ int, subject string) error {
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return explain(err)
		}
		return nil
	})
}
