package redissink

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

// A request is a part of a share's flush: rows, buckets or sketches, or nothing for
// the end.
type request struct {
	sh       *share
	index    int
	rows     []snapshot.CounterRow
	buckets  []sinkkit.BucketRow
	sketches []redisSketch
}

func (sh *share) enqueue(queue []request) []request {
	for rows := range slices.Chunk(sh.picked, rowsPerCall) {
		queue = append(queue, request{sh: sh, index: sh.requests, rows: rows})
		sh.requests++
	}
	for buckets := range slices.Chunk(sh.views, bucketsPerCall) {
		queue = append(queue, request{sh: sh, index: sh.requests, buckets: buckets})
		sh.requests++
	}
	for sketches := range slices.Chunk(sh.mergeable, sketchesPerCall) {
		queue = append(queue, request{sh: sh, index: sh.requests, sketches: sketches})
		sh.requests++
	}
	return append(queue, request{sh: sh, index: sh.requests})
}

func (k *Sink) call(r request) *call {
	switch {
	case r.rows != nil:
		return r.sh.callRows(r.index, r.rows)
	case r.buckets != nil:
		return k.callBuckets(r.sh, r.index, r.buckets)
	case r.sketches != nil:
		return r.sh.callMerge(r.index, r.sketches)
	}
	return &call{
		script: &finishScript,
		keys:   []string{r.sh.part.writers, r.sh.part.leases},
		args:   append(r.sh.args(), padded(r.sh.rows.Seq), r.sh.requests, k.lease.Milliseconds()),
	}
}

// args returns the first arguments of each script of a flush.
func (sh *share) args() []any { return []any{sh.mirror.Writer().String(), hexMark(sh.mark)} }

// callRows returns the request for some rows. Of all that they have, only the names
// of keys are arguments by themselves: each argument costs the server more than
// what it does with a row's numbers.
func (sh *share) callRows(index int, rows []snapshot.CounterRow) *call {
	keys := make([]string, 2, 2+len(rows))
	keys[0], keys[1] = sh.part.writers, sh.part.counters
	packed := make([]byte, 0, rowLen*len(rows))
	for i, r := range rows {
		if i == 0 || r.Key != rows[i-1].Key {
			keys = append(keys, named(sh.part.counter, r.Key.String()))
		}
		packed = appendRow(packed, len(keys), r)
	}
	return &call{
		script: &rowsScript,
		keys:   keys,
		args:   append(sh.args(), index, sh.rows.Seq, len(sh.part.counter), packed),
	}
}

// rowLen is how long appendRow makes a row.
const rowLen = 4 + 8 + 8

// appendRow appends what rows.lua takes: the number of the key, from 1 on; Created
// so shifted that negative ones have their place; and Value.
func appendRow(dst []byte, key int, r snapshot.CounterRow) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(key))
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Created)^1<<63)
	return binary.BigEndian.AppendUint64(dst, uint64(r.Value))
}

// answered takes note of the answer to a request. Only the last one tells how
// the flush ended: it is granted if all have been applied, whenever that was.
func (sh *share) answered(r request, c *call) {
	answer, err := c.cmd.Int()
	switch {
	case sh.err != nil:
	case err != nil:
		sh.err = explain(err)
	case r.index < sh.requests:
	case answer == 0:
		sh.err = fmt.Errorf("hotcount/redissink: %w: writer %v", export.ErrInterrupted, sh.mirror.Writer())
	default:
		sh.mirror.Hold(&sh.rows)
		sh.earlier = nil
		sh.standing = sinkkit.Standing{Seq: sh.rows.Seq, Mark: sh.mark}
	}
}
