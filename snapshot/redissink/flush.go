package redissink

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/sinkkit"
	"github.com/hotcount/hotcount/snapshot"
)

const (
	// A script holds up the server for about 4 µs a row and 300 µs a sketch,
	// so these make 1 to 1.5 ms.
	rowsPerCall     = 256
	sketchesPerCall = 5

	// callsPerTrip bounds what is underway at once: about 2 MB of rows.
	callsPerTrip = 64

	// maxClaims is how often one Write asks for a standing before it leaves
	// it to the next. Twice is enough unless others interfere.
	maxClaims = 8

	// tombstoneFor is for how long a writer that was taken for dead can come
	// back and find out. It costs about 200 bytes a writer and partition.
	tombstoneFor = 30 * 24 * time.Hour

	// clockSlack is by how much a host's clock may be wrong for a snapshot
	// that is about as old as tombstones get.
	clockSlack = 24 * time.Hour
)

// A source is a writer whose snapshots come to the sink, with one share for each
// partition.
type source struct{ shares []share }

// A share is what one partition gets of a source.
type share struct {
	part     *partition
	mirror   sinkkit.Mirror
	standing sinkkit.Standing // as last heard of
	heardAt  int64            // when, in ms of the store's clock, 0 if never
	buckets  sinkkit.BucketMirror
	rows     snapshot.Snapshot
	earlier  []earlierID // since the last whole flush, if they had windows

	// Of the flush underway.
	mark      sinkkit.Mark
	picked    []snapshot.CounterRow
	views     []sinkkit.BucketRow
	mergeable []redisSketch
	others    []snapshot.UniquesRow // sketches that Redis cannot merge
	requests  int                   // before the last
	err       error
}

// Write implements export.Sink. It takes two round trips, and one more for each
// further 16,000 rows that have changed. Now and then it calls Sweep, too.
func (k *Sink) Write(ctx context.Context, s *snapshot.Snapshot) error {
	if err := k.checkLayout(ctx, true); err != nil {
		return err
	}
	flushing := k.share(s)
	claimed := k.claim(ctx, flushing)
	for _, sh := range claimed {
		sh.pick()
		sh.err = k.replace(ctx, sh)
	}
	k.stream(ctx, claimed)
	if err := outcome(flushing); err != nil {
		return err
	}
	if now := time.Now(); now.After(k.sweepAt) {
		k.sweepAt = now.Add(k.untilSweep())
		if _, err := k.Sweep(ctx); err != nil {
			k.log.Warn("hotcount/redissink: looking for dead writers failed", "sink", k.String(), "error", err)
		}
	}
	return nil
}

// outcome joins the errors of shares. ErrTooLate gives up a snapshot in all
// partitions, so it is left out while another share may still succeed: the next
// Write finds it again.
func outcome(shares []*share) error {
	var final, other []error
	for _, sh := range shares {
		if errors.Is(sh.err, export.ErrTooLate) {
			final = append(final, sh.err)
		} else if sh.err != nil {
			other = append(other, sh.err)
		}
	}
	if len(other) > 0 {
		return errors.Join(other...)
	}
	return errors.Join(final...)
}

// share splits s over the partitions, and returns the shares that are in use.
func (k *Sink) share(s *snapshot.Snapshot) []*share {
	src := k.sources[s.Writer]
	if src == nil {
		src = &source{shares: make([]share, len(k.parts))}
		for i := range src.shares {
			src.shares[i].part = &k.parts[i]
		}
		k.sources[s.Writer] = src
	}
	for i := range src.shares {
		r := &src.shares[i].rows
		r.Reset()
		r.Writer, r.Seq, r.Started, r.Taken = s.Writer, s.Seq, s.Started, s.Taken
	}
	if len(src.shares) == 1 {
		r := &src.shares[0].rows
		r.Counters = append(r.Counters, s.Counters...)
		r.Final = append(r.Final, s.Final...)
		r.Uniques = append(r.Uniques, s.Uniques...)
		r.Windows = append(r.Windows, s.Windows...)
	} else {
		k.split(s, src)
	}
	var used []*share
	for i := range src.shares {
		sh := &src.shares[i]
		sh.err = nil
		if sh.heardAt != 0 || len(sh.rows.Counters)+len(sh.rows.Final)+len(sh.rows.Uniques)+len(sh.rows.Windows) > 0 {
			sh.mirror.Follow(&sh.rows)
			used = append(used, sh)
		}
	}
	return used
}

func (k *Sink) split(s *snapshot.Snapshot, src *source) {
	var id []byte
	of := func(key series.Key) *snapshot.Snapshot {
		id = key.AppendText(id[:0])
		return &src.shares[k.partOf(id)].rows
	}
	for _, c := range s.Counters {
		r := of(c.Key)
		r.Counters = append(r.Counters, c)
	}
	for _, c := range s.Final {
		r := of(c.Key)
		r.Final = append(r.Final, c)
	}
	for _, u := range s.Uniques {
		r := of(u.Key)
		r.Uniques = append(r.Uniques, u)
	}
	for _, w := range s.Windows {
		r := of(w.Key)
		r.Windows = append(r.Windows, w)
	}
}

// claim makes this flush the pending one of each share's writer, and returns the
// shares that then have something to send.
func (k *Sink) claim(ctx context.Context, shares []*share) (claimed []*share) {
	asking := shares
	for range maxClaims {
		var calls []*call
		asking = slices.DeleteFunc(slices.Clone(asking), func(sh *share) bool { return !sh.settle() })
		for _, sh := range asking {
			sh.mark = sh.mirror.Claim()
			calls = append(calls, &call{
				script: &claimScript,
				keys:   []string{sh.part.writers, sh.part.leases},
				args:   []any{sh.mirror.Writer().String(), formatStanding(sh.standing), hexMark(sh.mark), k.lease.Milliseconds()},
			})
		}
		if len(asking) == 0 {
			return claimed
		}
		k.run(ctx, calls...)
		var again []*share
		for i, sh := range asking {
			switch ok, err := sh.heard(calls[i]); {
			case err != nil:
				sh.err = err
			case ok:
				claimed = append(claimed, sh)
			default:
				again = append(again, sh)
			}
		}
		asking = again
	}
	for _, sh := range asking {
		sh.err = fmt.Errorf("hotcount/redissink: %w: claiming writer %v", export.ErrInterrupted, sh.mirror.Writer())
	}
	return claimed
}

// pick fills in what the flush has to send.
func (sh *share) pick() {
	rows, sketches := sh.mirror.Pick(&sh.rows)
	sh.views = sh.buckets.Pick(&sh.mirror, &sh.rows)
	sh.picked, sh.mergeable, sh.others, sh.requests = rows, sh.mergeable[:0], sh.others[:0], 0
	for _, u := range sketches {
		if r, ok := newRedisSketch(u); ok {
			sh.mergeable = append(sh.mergeable, r)
		} else {
			sh.others = append(sh.others, u)
		}
	}
}

// settle reports whether the share is to be sent.
func (sh *share) settle() bool {
	for {
		writer := sh.mirror.Writer()
		step, err := sh.mirror.Settle(sh.standing)
		if err != nil {
			sh.err = fmt.Errorf("hotcount/redissink: %w", err)
		}
		if step != sinkkit.Ask {
			return step == sinkkit.Send
		}
		if sh.standing.Dead && len(sh.rows.Windows) > 0 {
			sh.earlier = append(sh.earlier, earlierID{writer, sh.standing.Seq})
		}
		sh.standing = sinkkit.Standing{} // of an id that no store knows yet
	}
}

// heard takes note of the answer to a claim, and reports whether it was granted.
func (sh *share) heard(c *call) (granted bool, err error) {
	granted, now, st, err := parseClaim(c.cmd)
	if err != nil {
		return false, err
	}
	age := func(ms int64) time.Duration { return time.Duration(now-ms) * time.Millisecond }
	switch {
	case st.Seq > 0 || st.Dead:
	case sh.standing.Seq > 0 && age(sh.heardAt) > tombstoneFor:
		// Taken for dead, and forgotten. What it held then has been added up.
		st = sh.standing
		st.Dead = true
	case sh.standing.Seq == 0 && age(sh.rows.Taken.UnixMilli()) > tombstoneFor-clockSlack:
		// The last of an earlier run, which may have been added up.
		return false, fmt.Errorf("hotcount/redissink: %w: or so it may be, after %v", export.ErrTooLate, age(sh.rows.Taken.UnixMilli()))
	}
	sh.standing, sh.heardAt = st, now
	return granted, nil
}

// stream sends what the store does not hold of the shares, and finishes their
// flushes.
func (k *Sink) stream(ctx context.Context, shares []*share) {
	var queue []request
	for _, sh := range shares {
		if sh.err == nil {
			queue = sh.enqueue(queue)
		}
	}
	// One after the other from each partition, to keep all nodes busy.
	slices.SortStableFunc(queue, func(a, b request) int { return a.index - b.index })
	for trip := range slices.Chunk(queue, callsPerTrip) {
		trip = slices.DeleteFunc(trip, func(r request) bool { return r.sh.err != nil })
		var calls []*call
		for _, r := range trip {
			calls = append(calls, k.call(r))
		}
		k.run(ctx, calls...)
		for i, r := range trip {
			r.sh.answered(r, calls[i])
		}
	}
}

func hexMark(m sinkkit.Mark) string { return hex.EncodeToString(m[:]) }

// formatStanding returns what standing.lua makes of st, up to its state.
func formatStanding(st sinkkit.Standing) string {
	state := liveState
	if st.Dead {
		state = deadState
	}
	return fmt.Sprintf("%s %s %s %c", padded(st.Seq), hexMark(st.Mark), hexMark(st.Pending), state)
}

const (
	liveState = 'L'
	deadState = 'D' // or T, which is the same for the writer
)

func parseStanding(s string) (st sinkkit.Standing, ok bool) {
	f := strings.Fields(s)
	if len(f) != 5 || len(f[3]) != 1 {
		return st, false
	}
	var err error
	st.Seq, err = strconv.ParseUint(f[0], 10, 64)
	st.Dead = f[3][0] != liveState
	return st, err == nil && parseMark(f[1], &st.Mark) && parseMark(f[2], &st.Pending)
}

func parseMark(s string, m *sinkkit.Mark) bool {
	b, err := hex.DecodeString(s)
	return err == nil && copy(m[:], b) == len(m) && len(b) == len(m)
}

// parseClaim returns what claim.lua answers.
func parseClaim(cmd *redis.Cmd) (granted bool, now int64, st sinkkit.Standing, err error) {
	answer, err := cmd.Slice()
	if err != nil {
		return false, 0, st, explain(err)
	}
	if len(answer) == 3 {
		n, isInt := answer[0].(int64)
		ms, isTime := answer[1].(int64)
		text, isText := answer[2].(string)
		if st, ok := parseStanding(text); ok && isInt && isTime && isText {
			return n == 1, ms, st, nil
		}
	}
	return false, 0, st, fmt.Errorf("hotcount/redissink: %w: a claim was answered by %.120q", export.ErrForeign, answer)
}
