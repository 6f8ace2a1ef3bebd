package redissink

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	// defaultBuckets is twice what a window keeps by default at each of its
	// resolutions but the coarsest.
	defaultBuckets = 120

	// A bucket has to outlive a few exports, however fine it is.
	minKept = 5 * time.Minute

	// maxKept bounds the life of any key.
	maxKept = 10 * 365 * 24 * time.Hour

	// jitterShare is the part of the time that a bucket is kept that is added
	// to it at most, so that the buckets of all series do not go at once.
	jitterShare = 8

	// bucketsPerCall makes scripts of about 1.5 ms.
	bucketsPerCall = 128

	// maxSpan is how many buckets Window reads at most.
	maxSpan = 100_000
)

// ViewsKey returns the name of the hash that has the bucket of a series that
// begins at start. Its field "total" is the count, in decimal.
func (k *Sink) ViewsKey(key series.Key, resolution time.Duration, start time.Time) string {
	id := key.AppendText(nil)
	p := &k.parts[k.partOf(id)]
	return string(appendSeconds(p.bucketsOf(id, resolution), start.UnixNano()))
}

// bucketsOf returns what the names of a series' buckets begin with.
func (p *partition) bucketsOf(id []byte, resolution time.Duration) []byte {
	name := append([]byte(p.views), id...)
	return append(appendSeconds(append(name, "}:"...), int64(resolution)), ':')
}

// appendSeconds appends ns as a number of seconds, with a fraction if need be.
func appendSeconds(dst []byte, ns int64) []byte {
	dst = strconv.AppendInt(dst, ns/1e9, 10)
	if ns%1e9 == 0 {
		return dst
	}
	fraction := strconv.AppendInt(nil, 1e9+max(ns%1e9, -ns%1e9), 10)
	fraction[0] = '.'
	for fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	return append(dst, fraction...)
}

// kept returns for how long buckets of a resolution are kept after their end.
func (k *Sink) kept(resolution time.Duration) time.Duration {
	if resolution > maxKept/time.Duration(k.buckets) {
		return maxKept
	}
	return max(minKept, time.Duration(k.buckets)*resolution)
}

// An earlierID is one that the source has had in a share, under which it was taken
// for dead, and the last snapshot that then was whole.
type earlierID struct {
	writer snapshot.WriterID
	seq    uint64
}

func (k *Sink) callBuckets(sh *share, index int, rows []sinkkit.BucketRow) *call {
	var earlier []byte
	for _, e := range sh.earlier {
		earlier = append(earlier, e.writer.String()...)
		earlier = strconv.AppendUint(append(earlier, ' '), e.seq, 10)
		earlier = append(earlier, ' ')
	}
	c := &call{
		script: &bucketsScript,
		keys:   []string{sh.part.writers},
		args:   append(sh.args(), index, sh.rows.Seq, earlier),
	}
	var id []byte
	for _, b := range rows {
		id = b.Key.AppendText(id[:0])
		name := appendSeconds(sh.part.bucketsOf(id, b.Resolution), b.Start)
		c.keys = append(c.keys, string(name))

		keep, resolution := k.kept(b.Resolution).Milliseconds(), b.Resolution.Milliseconds()
		jitter := int64(xxhash.Sum64(name) % uint64(keep/jitterShare))
		arg := strconv.AppendInt(nil, b.Count, 10)
		arg = strconv.AppendInt(append(arg, ' '), max(0, b.Start/1e6+resolution+keep+jitter), 10)
		arg = strconv.AppendInt(append(arg, ' '), resolution+keep+keep/jitterShare, 10)
		c.args = append(c.args, arg)
	}
	return c
}

// Window implements export.Reader. It takes a round trip for each 500 buckets,
// kept or not, and refuses spans of more than 100,000. What PartialError names are
// keys.
func (k *Sink) Window(ctx context.Context, key series.Key, resolution time.Duration, from, to time.Time) ([]export.BucketTotal, error) {
	starts, err := span(resolution, from, to)
	if err != nil {
		return nil, err
	}
	if err := k.checkLayout(ctx, false); err != nil {
		return nil, err
	}
	id := key.AppendText(nil)
	names := k.parts[k.partOf(id)].bucketsOf(id, resolution)
	nameOf := func(start int64) string { return string(appendSeconds(names[:len(names):len(names)], start)) }
	var buckets []export.BucketTotal
	var missing gaps
	for len(starts) > 0 {
		trip := starts[:min(len(starts), seriesPerTrip)]
		starts = starts[len(trip):]
		pipe := k.client.Pipeline()
		var totals []*redis.StringCmd
		for _, start := range trip {
			totals = append(totals, pipe.HGet(ctx, nameOf(start), total))
		}
		pipe.Exec(ctx) // each command has its error
		for i, start := range trip {
			switch n, err := totals[i].Int64(); {
			case errors.Is(err, redis.Nil):
				missing.close()
			case err != nil:
				missing.open(nameOf(start), err)
			default:
				missing.close()
				if n != 0 {
					buckets = append(buckets, export.BucketTotal{Start: time.Unix(0, start), Count: n})
				}
			}
		}
	}
	missing.close()
	if err := missing.err(); err != nil {
		return buckets, err
	}
	return buckets, nil
}

// span returns when the buckets from from and before to begin. There are none
// before 1970.
func span(resolution time.Duration, from, to time.Time) ([]int64, error) {
	if resolution <= 0 {
		return nil, fmt.Errorf("hotcount/redissink: a window's resolution is %v", resolution)
	}
	first, end := unixNano(from), unixNano(to)
	r := int64(resolution)
	if rest := first % r; rest > 0 {
		if first > math.MaxInt64-r {
			return nil, nil
		}
		first += r - rest
	}
	if first >= end {
		return nil, nil
	}
	n := (end - first - 1) / r
	if n >= maxSpan {
		return nil, fmt.Errorf("hotcount/redissink: a window of %d buckets, which is more than %d", n+1, maxSpan)
	}
	starts := make([]int64, n+1)
	for i := range starts {
		starts[i] = first + int64(i)*r
	}
	return starts, nil
}

// unixNano returns t, or what is closest to it from 1970 to 2262.
func unixNano(t time.Time) int64 {
	switch latest := time.Unix(0, math.MaxInt64); {
	case t.Unix() < 0:
		return 0
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// gaps collects what an answer lacks, where that may be many keys in a row.
type gaps struct {
	partial
	first, last string
	why         error
}

func (g *gaps) open(key string, err error) {
	if g.first == "" {
		g.first, g.why = key, err
	}
	g.last = key
}

func (g *gaps) close() {
	switch g.first {
	case "":
		return
	case g.last:
		g.add(g.first, g.why)
	default:
		g.add(g.first+" to "+g.last, g.why)
	}
	g.first = ""
}
