package natssink

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/rowstream"
)

// summing is what one who carries on a round knows.
type summing struct {
	base   *rowstream.Standing
	folded map[snapshot.WriterID]bool

	rows     int      // of the folded writers
	subjects []string // that they are under

	gone   rowstream.Fold // of the folded writers alone
	unions rowstream.Fold // of their sketches and those in the sums

	slots *slots                  // of the sums
	keys  map[string]snapshot.Key // of the rows in slots, by text
}

// sum adds the rows of the writers in base.Folded to the sums.
func (k *Sink) sum(ctx context.Context, stream jetstream.Stream, base *rowstream.Standing) (*summing, error) {
	s := &summing{
		base:   base,
		folded: make(map[snapshot.WriterID]bool, len(base.Folded)),
		keys:   make(map[string]snapshot.Key),
		slots: newSlots(k.name, func(g group, n int) string {
			return k.slotSubject(g.kind, g.name, snapshot.WriterID{}, n)
		}),
	}
	for _, w := range base.Folded {
		s.folded[w] = true
	}
	for _, token := range [...]string{counterToken, uniquesToken, writerToken} {
		if err := k.read(ctx, k.name, k.name+"."+token+".>", s.apply, nil); err != nil {
			return nil, err
		}
	}
	if err := s.add(ctx); err != nil {
		return nil, err
	}
	mark := snapshot.NewMark()
	return s, each(ctx, s.slots.touched, func(ctx context.Context, i int, sl *slot) error {
		_, err := k.putRows(ctx, stream, sl, fmt.Sprintf("%x.%d", mark, i))
		if errors.Is(err, errOvertaken) {
			return fmt.Errorf("%w: another Compact", ErrInterrupted)
		}
		return err
	})
}

// apply takes a message of the stream.
func (s *summing) apply(m *received) error {
	switch st := m.message.Standing; {
	case st != nil && s.folded[st.Writer]:
		return s.gone.Apply(m.message)
	case st != nil:
		return nil
	}
	w := m.message.Rows[0].Writer
	if !w.IsZero() && !s.folded[w] {
		return nil
	}
	if m.message.Rows[0].Sketch != nil {
		if err := s.unions.Apply(m.message); err != nil {
			return err
		}
	}
	if w.IsZero() {
		s.load(m)
		return nil
	}
	s.rows += len(m.message.Rows)
	s.subjects = append(s.subjects, m.subject)
	return s.gone.Apply(m.message)
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
		kind := kindOf(r)
		g := group{kind: kind, name: r.Key.Name()}
		if last := s.slots.last[g]; last == nil || last.number < number {
			s.slots.last[g] = sl
		}
		s.slots.rows[rowID{key: s.key(r.Key), created: r.Created, group: kind}] = place{sl, i}
		sl.size += 2 * len(r.Key.Packed())
	}
}

func kindOf(r *rowstream.Row) string {
	if r.Sketch != nil {
		return uniquesToken
	}
	return counterToken
}

// key returns the one Key of a series.
func (s *summing) key(k snapshot.Key) snapshot.Key {
	text := k.String()
	if one, ok := s.keys[text]; ok {
		return one
	}
	s.keys[text] = k
	return k
}

// add sets the new sums.
func (s *summing) add(ctx context.Context) error {
	all := snapshot.Query{Limit: math.MaxInt}
	totals, err := s.gone.Totals(ctx, all)
	if err != nil {
		return err
	}
	for _, t := range totals {
		s.set(rowstream.Row{Key: s.key(t.Key), Value: t.Value})
	}
	mine, err := s.gone.Uniques(ctx, all)
	if err != nil || len(mine) == 0 {
		return err
	}
	unions, err := s.unions.Uniques(ctx, all)
	if err != nil {
		return err
	}
	changed := make(map[string]bool, len(mine))
	for _, u := range mine {
		changed[u.Key.String()] = true
	}
	for _, u := range unions {
		if !changed[u.Key.String()] {
			continue
		}
		data, err := u.Sketch.MarshalBinary()
		if err != nil {
			return err
		}
		s.set(rowstream.Row{Key: s.key(u.Key), Created: schemeID(u.Scheme), Scheme: u.Scheme, Sketch: data})
	}
	return nil
}

// set adds a row to the sum of its series, unless one who carried on the same round
// has done so.
func (s *summing) set(r rowstream.Row) {
	r.Seq = s.base.Seq + 1
	kind := kindOf(&r)
	if p, ok := s.slots.rows[rowID{key: r.Key, created: r.Created, group: kind}]; ok {
		have := p.slot.rows[p.row]
		if have.Seq > s.base.Seq || kind == counterToken && r.Value == 0 {
			return
		}
		r.Value += have.Value
	}
	s.slots.set(kind, r, s.base.Seq, false)
}

// schemeID tells the sums of one series apart that are of different schemes, by
// Created, which has no other use there.
func schemeID(s hll.Scheme) int64 { return int64(s.SeedPrint) ^ int64(s.Hash) }
