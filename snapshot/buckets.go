package snapshot

import (
	"maps"
	"time"
)

// A Bucket is what all writers have added to a series in the resolution that
// begins at Start.
type Bucket struct {
	Start time.Time
	Count int64
}

// A BucketRow is one bucket of one writer, as it goes to a store. The newest
// one of a series and resolution may come again with another count.
type BucketRow struct {
	Key        Key
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
	source WriterID
	writer WriterID
	acked  bucketFlush // what the store holds under writer
	lost   bool        // it held that once, and went back to an older state
	tried  bucketFlush // what was sent since
	offset map[curve]newest
	picked []BucketRow // buffer of Pick
}

type bucketFlush struct {
	mark   Mark
	newest map[curve]newest
}

// A curve is one series at one resolution.
type curve struct {
	desc       *Desc
	packed     string
	resolution time.Duration
}

// A newest bucket stands for all before it, which no longer change.
type newest struct {
	start, count int64
}

// Pick returns the buckets of s that the store does not hold, to be sent under
// m.Writer. They are valid until the next Pick. It leaves out idle buckets, and
// those that began before s.Started: they are an earlier writer's.
func (b *BucketMirror) Pick(m *Mirror, s *Snapshot) []BucketRow {
	b.settle(m)
	sent := b.tried.newest
	b.tried = bucketFlush{m.tried.mark, make(map[curve]newest, len(s.Windows))}
	b.picked = b.picked[:0]
	for _, w := range s.Windows {
		var last BucketRow
		for _, r := range w.Rows {
			if r.Start < s.Started.UnixNano() || r.Resolution <= 0 {
				continue
			}
			row := BucketRow{w.Key, r.Resolution, bucketStart(r.Start, r.Resolution), r.Count}
			if row.Resolution == last.Resolution && row.Start <= last.Start {
				last.Count += row.Count
				continue
			}
			b.pick(last, sent)
			last = row
		}
		b.pick(last, sent)
	}
	return b.picked
}

// settle catches up with what m knows of the store.
func (b *BucketMirror) settle(m *Mirror) {
	if b.source != m.source {
		*b = BucketMirror{source: m.source, writer: m.source}
	}
	held := m.acked.mark
	if b.writer != m.writer {
		held = m.left
	}
	switch {
	case held == b.acked.mark:
	case held == b.tried.mark && !held.IsZero():
		b.acked, b.tried, b.lost = b.tried, bucketFlush{}, false
	default:
		b.acked.mark, b.lost = held, true
	}
	if b.writer == m.writer {
		return
	}
	if b.offset == nil {
		b.offset = make(map[curve]newest)
	}
	maps.Copy(b.offset, b.acked.newest)
	b.writer, b.acked, b.tried, b.lost = m.writer, bucketFlush{mark: m.acked.mark}, bucketFlush{}, false
}

// pick appends a bucket to those picked, if the store does not hold it. Of sent
// it may hold some.
func (b *BucketMirror) pick(row BucketRow, sent map[curve]newest) {
	c := curve{row.Key.desc, row.Key.packed, row.Resolution}
	before, moved := b.offset[c]
	have, held := b.acked.newest[c]
	if row.Count == 0 { // idle, if not taken back
		maybe, ok := sent[c]
		if !(ok && row.Start <= maybe.start || held && row.Start == have.start || moved && row.Start == before.start) {
			return
		}
	}
	now := newest{row.Start, row.Count}
	b.tried.newest[c] = now
	if held && !b.lost && (row.Start < have.start || now == have) {
		return
	}
	if moved && row.Start <= before.start {
		if row.Start < before.start {
			return
		}
		row.Count -= before.count
	}
	b.picked = append(b.picked, row)
}

// bucketTolerance is the part of a resolution by which a row may begin before
// the bucket that it belongs to: a row begins when its sampler woke up, by a wall
// clock that is being slewed, so a little after the tick, and is not always
// labelled alike.
const bucketTolerance = 4

func bucketStart(start int64, resolution time.Duration) int64 {
	r := int64(resolution)
	start += r / bucketTolerance
	rest := start % r
	if rest < 0 {
		rest += r
	}
	return start - rest
}
