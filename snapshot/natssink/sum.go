package natssink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/internal/rollup"
)

// summing is what one who carries on a round knows.
type summing struct {
	*rollup.Sum
	subjects []string              // that the folded writers' rows are under
	slots    *slots                // of the sums
	keys     map[string]series.Key // of the rows in slots, by text
}

// sum adds the rows of the writers in base.Folded to the sums.
func (k *Sink) sum(ctx context.Context, stream jetstream.Stream, base *rowstream.Standing) (*summing, error) {
	s := &summing{
		Sum:  rollup.New(base),
		keys: make(map[string]series.Key),
		slots: newSlots(k.name, func(g group, n int) string {
			return k.slotSubject(g.kind, g.name, snapshot.WriterID{}, n)
		}),
	}
	for _, token := range [...]string{counterToken, uniquesToken, writerToken} {
		if err := k.read(ctx, k.name, k.name+"."+token+".>", s.apply, nil); err != nil {
			return nil, err
		}
	}
	rows, _, err := s.Next(false)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b rowstream.Row) int { return a.Key.Compare(b.Key) })
	for _, r := range rows {
		r.Key = s.key(r.Key)
		s.slots.set(tokenOf(&r), r, base.Seq, false)
	}
	mark := sinkkit.NewMark()
	return s, each(ctx, s.slots.touched, func(ctx context.Context, i int, sl *slot) error {
		_, err := k.putRows(ctx, stream, sl, fmt.Sprintf("%x.%d", mark, i))
		if errors.Is(err, errOvertaken) {
			return fmt.Errorf("hotcount/natssink: %w: another Compact", export.ErrInterrupted)
		}
		return err
	})
}

// apply takes a message of the stream.
func (s *summing) apply(m *received) error {
	if len(m.message.Rows) > 0 {
		switch w := m.message.Rows[0].Writer; {
		case w.IsZero():
			s.load(m)
		case s.Has(w):
			s.subjects = append(s.subjects, m.subject)
		}
	}
	return s.Apply(m.message)
}

// load puts a message of sums in its slot.
func (s *summing) load(m *received) {
	number, err := strconv.Atoi(m.subject[strings.LastIndexByte(m.subject, '.')+1:])
	if err != nil {
		return // nobody's slot
	}
	sl := &slot{subject: m.subject, number: number, at: m.at, rows: m.message.Rows}
	for i := range sl.rows {
		r := &sl.rows[i]
		kind := tokenOf(r)
		g := group{kind: kind, name: r.Key.Name()}
		if last := s.slots.last[g]; last == nil || last.number < number {
			s.slots.last[g] = sl
		}
		s.slots.rows[rowID{key: s.key(r.Key), created: r.Created, group: kind}] = place{sl, i}
		sl.size += 2 * len(r.Key.Packed())
	}
}

func tokenOf(r *rowstream.Row) string {
	if r.Sketch != nil {
		return uniquesToken
	}
	return counterToken
}

// key returns the one Key of a series.
func (s *summing) key(k series.Key) series.Key {
	text := k.String()
	if one, ok := s.keys[text]; ok {
		return one
	}
	s.keys[text] = k
	return k
}
