// Package rollup adds up the rows of writers that are gone, for the sinks that
// publish package rowstream's messages.
package rollup

import (
	"context"
	"math"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/sinkkit/rowstream"
	"github.com/hotcount/hotcount/snapshot"
)

// A Sum adds the rows of some writers to the rows of the zero writer, the sums.
type Sum struct {
	Rows int // of the writers

	base    *rowstream.Standing
	writers map[snapshot.WriterID]bool
	gone    rowstream.Fold // of the writers alone
	unions  rowstream.Fold // of their sketches and those in the sums
	sums    map[string]rowstream.Row
	newest  uint64
}

// New returns a Sum over the writers in base.Folded; base is the standing of the
// zero writer, as far as whose Seq the sums are whole.
func New(base *rowstream.Standing) *Sum {
	s := &Sum{
		base:    base,
		writers: make(map[snapshot.WriterID]bool, len(base.Folded)),
		sums:    make(map[string]rowstream.Row),
		newest:  base.Seq,
	}
	for _, w := range base.Folded {
		s.writers[w] = true
	}
	return s
}

// Has reports whether w is one of the writers.
func (s *Sum) Has(w snapshot.WriterID) bool { return s.writers[w] }

// Apply takes a message into account, if it is of the writers or of the sums.
func (s *Sum) Apply(m rowstream.Message) error {
	if m.Standing != nil {
		if s.Has(m.Standing.Writer) {
			return s.gone.Apply(m)
		}
		return nil
	}
	w := m.Rows[0].Writer
	if !w.IsZero() && !s.Has(w) {
		return nil
	}
	if m.Rows[0].Sketch != nil {
		if err := s.unions.Apply(m); err != nil {
			return err
		}
	}
	if !w.IsZero() {
		s.Rows += len(m.Rows)
		return s.gone.Apply(m)
	}
	for _, r := range m.Rows {
		id := string(r.AppendID(nil))
		if have, ok := s.sums[id]; !ok || have.Seq < r.Seq {
			s.sums[id] = r
		}
		s.newest = max(s.newest, r.Seq)
	}
	return nil
}

// Next returns the sums that change, and their Seq. Rows of the sums whose Seq is
// later than the base's are those of a round that did not end. It is this round,
// whose sums they are, or it was another, whose have to be made anew.
func (s *Sum) Next(another bool) (rows []rowstream.Row, seq uint64, err error) {
	seq = s.base.Seq + 1
	if another {
		seq = s.newest + 1
	}
	all := export.Query{Limit: math.MaxInt}
	totals, err := s.gone.Totals(context.Background(), all)
	if err != nil {
		return nil, 0, err
	}
	next := make(map[string]rowstream.Row)
	for _, t := range totals {
		s.add(next, rowstream.Row{Key: t.Key, Seq: seq, Value: t.Value}, another)
	}
	if err := s.unite(next, seq, another); err != nil {
		return nil, 0, err
	}
	for id, have := range s.sums {
		if _, ok := next[id]; !ok && another && have.Seq > s.base.Seq {
			have.Seq, have.Value = seq, have.Prior
			next[id] = have
		}
	}
	for _, r := range next {
		rows = append(rows, r)
	}
	return rows, seq, nil
}

// add adds r to its sum, unless this round has done so.
func (s *Sum) add(next map[string]rowstream.Row, r rowstream.Row, another bool) {
	id := string(r.AppendID(nil))
	have, ok := s.sums[id]
	switch {
	case ok && have.Seq > s.base.Seq && !another:
		return
	case ok:
		r.Key, r.Prior = have.Key, have.Whole(s.base.Seq)
		r.Value += r.Prior
	}
	next[id] = r
}

// unite adds the unions of the series that the writers had sketches of.
func (s *Sum) unite(next map[string]rowstream.Row, seq uint64, another bool) error {
	all := export.Query{Limit: math.MaxInt}
	mine, err := s.gone.Uniques(context.Background(), all)
	if err != nil || len(mine) == 0 {
		return err
	}
	changed := make(map[string]bool, len(mine))
	for _, u := range mine {
		changed[u.Key.String()] = true
	}
	unions, err := s.unions.Uniques(context.Background(), all)
	for _, u := range unions {
		if !changed[u.Key.String()] {
			continue
		}
		data, err := u.Sketch.MarshalBinary()
		if err != nil {
			return err
		}
		s.add(next, rowstream.Row{Key: u.Key, Created: schemeID(u.Scheme), Seq: seq, Scheme: u.Scheme, Sketch: data}, another)
	}
	return err
}

// schemeID tells the sums of one series apart that are of different schemes, by
// Created, which has no other use there.
func schemeID(s hll.Scheme) int64 { return int64(s.SeedPrint) ^ int64(s.Hash) }
