package sinkkit

import (
	"maps"
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// A BucketRow is one bucket of one writer, as it goes to a store. The newest
// one of a series and resolution may come again with another count.
type BucketRow struct {
	Key        series.Key
	Resolution time.Duration
	Start      int64 // Unix nanoseconds, a multiple of Resolution
	Count      int64
}

// A BucketMirror is for buckets what a Mirror is for counters, and goes with one:
// in each flush, Pick follows the Mirror's Pick. The Mirror does all the rest. A
// store keeps a row for each writer, series, resolution and start, which a later
// flush of that writer replaces, and forgets them in its own time. A bucket's
// count is the sum over its writers.
//
// The windows of all writers fall together in buckets: those begin at multiples
// of their resolution since the Unix epoch.
//
// The zero BucketMirror is ready for use. It is not safe for concurrent use. It
// takes about 100 bytes for each series and resolution that has a window.
type BucketMirror struct {
	source snapshot.WriterID
	writer snapshot.WriterID
	acked  bucketFlush      // what the store holds under writer
	lost   bool             // it held that once, and went back to an older state
	tried  bucketFlush      // what was sent last, if it is not held
	sent   map[curve]int64  // since the last whole flush, under any id: the newest, up to which it may hold other counts
	offset map[curve]newest // what the store holds under earlier ids
	picked []BucketRow      // buffer of Pick
}

type bucketFlush struct {
	mark   Mark
	newest map[curve]newest
}

// A curve is one series at one resolution.
type curve struct {
	key        series.Key
	resolution time.Duration
}

// A newest bucket stands for all before it, which no longer change.
type newest struct {
	start, count int64
}

// Pick returns the buckets of s that the store does not hold, to be sent under
// m.Writer. They are valid until the next Pick. It leaves out idle buckets, and
// what earlier writers counted.
func (b *BucketMirror) Pick(m *Mirror, s *snapshot.Snapshot) []BucketRow {
	b.settle(m)
	b.tried = bucketFlush{m.tried.mark, make(map[curve]newest, len(s.Windows))}
	b.picked = b.picked[:0]
	for _, w := range s.Windows {
		var last BucketRow
		for _, r := range w.Rows {
			if r.Earlier || r.Resolution <= 0 {
				continue
			}
			row := BucketRow{w.Key, r.Resolution, r.Bucket(), r.Count}
			if row.Resolution == last.Resolution && row.Start <= last.Start {
				last.Count += row.Count
				continue
			}
			b.pick(last)
			last = row
		}
		b.pick(last)
	}
	return b.picked
}

// settle catches up with what m knows of the store.
func (b *BucketMirror) settle(m *Mirror) {
	if b.source != m.source {
		*b = BucketMirror{
			source: m.source,
			writer: m.source,
			sent:   make(map[curve]int64),
			offset: make(map[curve]newest),
		}
	}
	held := m.acked.mark
	if b.writer != m.writer {
		held = m.left
	}
	switch {
	case held == b.acked.mark:
	case held == b.tried.mark && !held.IsZero():
		b.acked, b.tried, b.lost = b.tried, bucketFlush{}, false
		clear(b.sent)
	default:
		b.acked.mark, b.lost = held, true
	}
	if b.writer == m.writer {
		return
	}
	maps.Copy(b.offset, b.acked.newest)
	// What a flush that never ended has left stays in sent: only a bucket that is
	// sent again, be it 0 now, has the store take it back.
	b.writer, b.acked, b.tried, b.lost = m.writer, bucketFlush{mark: m.acked.mark}, bucketFlush{}, false
}

// pick appends a bucket to those picked, if the store does not hold it.
func (b *BucketMirror) pick(row BucketRow) {
	c := curve{row.Key, row.Resolution}
	have, held := b.acked.newest[c]
	before, moved := b.offset[c]
	newestSent, sent := b.sent[c]
	doubtful := sent && row.Start <= newestSent || held && b.lost && row.Start <= have.start
	if row.Count == 0 && !doubtful && !(held && row.Start == have.start) && !(moved && row.Start == before.start) {
		return // idle, and not because something was taken back
	}
	now := newest{row.Start, row.Count}
	b.tried.newest[c] = now
	if moved && row.Start < before.start || held && !b.lost && (row.Start < have.start || now == have && !doubtful) {
		return
	}
	if moved && row.Start == before.start {
		row.Count -= before.count
	}
	if !sent || row.Start > newestSent {
		b.sent[c] = row.Start
	}
	b.picked = append(b.picked, row)
}
