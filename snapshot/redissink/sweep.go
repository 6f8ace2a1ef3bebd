package redissink

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
)

const (
	// One script looks for this many dead writers in this many counters: 1 ms.
	deadPerCall     = 64
	countersPerCall = 64

	// maxSweeps bounds one Sweep of one partition, to 6,400 writers.
	maxSweeps = 100
)

// Swept is what a Sweep did.
type Swept struct {
	Writers int // that were found dead and are added up now
	Rows    int // that they had
}

// Sweep adds up the rows of writers whose leases have run out, and forgets
// tombstones that have stood for 30 days. Write does so by itself at random, a
// few times in the length of a lease. It may break off and be called again, by
// any number of processes.
func (k *Sink) Sweep(ctx context.Context) (Swept, error) {
	var all Swept
	if err := k.checkLayout(ctx, false); err != nil {
		return all, err
	}
	var errs []error
	for i := range k.parts {
		for range maxSweeps {
			more, some, err := k.sweep(ctx, &k.parts[i])
			all.Writers += some.Writers
			all.Rows += some.Rows
			if err != nil {
				errs = append(errs, err)
			}
			if err != nil || !more {
				break
			}
		}
	}
	return all, errors.Join(errs...)
}

// sweep adds up some writers, and reports whether there may be more.
func (k *Sink) sweep(ctx context.Context, p *partition) (more bool, some Swept, err error) {
	dead, more, err := k.expire(ctx, p)
	if err != nil || len(dead) == 0 {
		return more, some, err
	}
	some.Rows, err = k.fold(ctx, p, dead)
	if err != nil {
		return false, some, err
	}
	c := &call{
		script: &buryScript,
		keys:   []string{p.writers, p.leases},
		args:   append([]any{tombstoneFor.Milliseconds()}, anys(dead)...),
	}
	k.run(ctx, c)
	if err := c.cmd.Err(); err != nil {
		return false, some, explain(err)
	}
	some.Writers = len(dead)
	return more, some, nil
}

// expire returns some writers that are dead and not added up, and whether there
// may be more.
func (k *Sink) expire(ctx context.Context, p *partition) (dead []string, more bool, err error) {
	c := &call{script: &expireScript, keys: []string{p.writers, p.leases}, args: []any{deadPerCall}}
	k.run(ctx, c)
	answer, err := c.cmd.Slice()
	if err != nil {
		return nil, false, explain(err)
	}
	if len(answer) == 2 {
		out, isInt := answer[0].(int64)
		writers, isList := answer[1].([]any)
		if isInt && isList {
			for _, w := range writers {
				dead = append(dead, fmt.Sprint(w))
			}
			return dead, out == deadPerCall, nil
		}
	}
	return nil, false, fmt.Errorf("hotcount/redissink: %w: a search for dead writers was answered by %.120q", export.ErrForeign, answer)
}

// fold adds up the rows of dead writers in all counters of a partition.
func (k *Sink) fold(ctx context.Context, p *partition, dead []string) (rows int, err error) {
	for after := "-"; ; {
		ids, err := k.client.ZRangeByLex(ctx, p.counters, &redis.ZRangeBy{
			Min: after, Max: "+", Count: countersPerCall * callsPerTrip,
		}).Result()
		if err != nil || len(ids) == 0 {
			return rows, explain(err)
		}
		after = "(" + ids[len(ids)-1]
		var calls []*call
		for some := range slices.Chunk(ids, countersPerCall) {
			keys := []string{p.writers}
			for _, id := range some {
				keys = append(keys, named(p.counter, id))
			}
			calls = append(calls, &call{script: &foldScript, keys: keys, args: anys(dead)})
		}
		k.run(ctx, calls...)
		for _, c := range calls {
			n, err := c.cmd.Int()
			if err != nil {
				return rows, explain(err)
			}
			rows += n
		}
	}
}

func anys(s []string) []any {
	a := make([]any, len(s))
	for i := range s {
		a[i] = s[i]
	}
	return a
}
