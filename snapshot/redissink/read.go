package redissink

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
)

// seriesPerTrip is how many series one round trip reads.
const seriesPerTrip = 500

// base is the field of a counter's hash for the sum of the dead writers' rows.
const base = "base"

// total is the field of a bucket's hash for the sum over the writers.
const total = "total"

var _ interface {
	export.Sink
	export.Reader
} = (*Sink)(nil)

// A found is one series of an index.
type found struct {
	id   string
	part *partition
}

// list returns the series that q selects, in order, from the partitions' indexes.
// Those of partitions that do not answer are missing.
func (k *Sink) list(ctx context.Context, q export.Query, index func(*partition) string) ([]found, *export.PartialError, error) {
	if q.Limit < 0 {
		return nil, nil, fmt.Errorf("hotcount/redissink: Query.Limit %d is negative", q.Limit)
	}
	if err := k.checkLayout(ctx, false); err != nil {
		return nil, nil, err
	}
	limit := cmp.Or(q.Limit, export.DefaultLimit)
	by := redis.ZRangeBy{Min: "[" + q.Prefix, Max: before(q.Prefix), Count: int64(limit)}
	if after := q.After.String(); after >= q.Prefix && after != "" {
		by.Min = "(" + after
	}
	pipe := k.client.Pipeline()
	var answers []*redis.StringSliceCmd
	for i := range k.parts {
		answers = append(answers, pipe.ZRangeByLex(ctx, index(&k.parts[i]), &by))
	}
	pipe.Exec(ctx) // each command has its error
	var all []found
	var missing partial
	for i, a := range answers {
		ids, err := a.Result()
		if err != nil {
			missing.add(index(&k.parts[i]), err)
			continue
		}
		for _, id := range ids {
			all = append(all, found{id, &k.parts[i]})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.id, b.id) })
	return all[:min(len(all), limit)], missing.err(), nil
}

// before returns the end of a range of all strings with a prefix.
func before(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return "+"
	}
	b[len(b)-1]++
	return "(" + string(b)
}

// partial collects what an answer lacks.
type partial struct {
	missing []string
	first   error
}

func (p *partial) add(what string, err error) {
	p.missing = append(p.missing, what)
	if p.first == nil {
		p.first = explain(err)
	}
}

func (p *partial) err() *export.PartialError {
	if p.first == nil {
		return nil
	}
	return &export.PartialError{Missing: p.missing, Err: p.first}
}

// read calls ask to put commands for each series in one pipeline a trip, and
// take with what came of them. What take fails for is missing.
func read[C any](ctx context.Context, k *Sink, asked []found, lacking *export.PartialError, ask func(redis.Pipeliner, found) C, take func(series.Key, C) error) error {
	var missing partial
	if lacking != nil {
		missing = partial{lacking.Missing, lacking.Err}
	}
	for trip := range slices.Chunk(asked, seriesPerTrip) {
		pipe := k.client.Pipeline()
		var commands []C
		for _, f := range trip {
			commands = append(commands, ask(pipe, f))
		}
		pipe.Exec(ctx) // each command has its error
		for i, f := range trip {
			key, err := series.ParseKey(f.id)
			if err == nil {
				err = take(key, commands[i])
			}
			if err != nil {
				missing.add(f.id, err)
			}
		}
	}
	if err := missing.err(); err != nil {
		return err
	}
	return nil
}

// Totals implements export.Reader. It takes one round trip for the list of
// series and one for each 500 of them, and reads a row for each writer. What
// PartialError names are series, or indexes of partitions.
func (k *Sink) Totals(ctx context.Context, q export.Query) ([]export.CounterTotal, error) {
	asked, lacking, err := k.list(ctx, q, func(p *partition) string { return p.counters })
	if err != nil {
		return nil, err
	}
	var totals []export.CounterTotal
	err = read(ctx, k, asked, lacking,
		func(pipe redis.Pipeliner, f found) *redis.MapStringStringCmd {
			return pipe.HGetAll(ctx, named(f.part.counter, f.id))
		},
		func(key series.Key, rows *redis.MapStringStringCmd) error {
			fields, err := rows.Result()
			if err != nil {
				return err
			}
			t := export.CounterTotal{Key: key}
			for writer, row := range fields {
				n, err := parseRow(writer, row)
				if err != nil {
					return err
				}
				t.Value += n
				if writer != base {
					t.Writers++
				}
			}
			totals = append(totals, t)
			return nil
		})
	return totals, err
}

// parseRow returns the count of a field of a counter's hash: see row.lua.
func parseRow(writer, row string) (int64, error) {
	switch {
	case writer == base:
		if n, err := strconv.ParseUint(row, 16, 64); err == nil {
			return int64(n), nil
		}
	case len(row) == 5*8:
		value, carry := binary.BigEndian.Uint64([]byte(row[16:])), binary.BigEndian.Uint64([]byte(row[24:]))
		return int64(value + carry), nil
	}
	return 0, fmt.Errorf("hotcount/redissink: %w: writer %q has the row %.120q", export.ErrForeign, writer, row)
}

// sketchCmds are the commands for the sketches of one series.
type sketchCmds struct {
	redis  *redis.StringCmd
	others *redis.MapStringStringCmd
}

// Uniques implements export.Reader, at the cost of Totals. A series whose
// writers hash in different ways has a total for each of them.
func (k *Sink) Uniques(ctx context.Context, q export.Query) ([]export.UniquesTotal, error) {
	asked, lacking, err := k.list(ctx, q, func(p *partition) string { return p.uniques })
	if err != nil {
		return nil, err
	}
	var totals []export.UniquesTotal
	err = read(ctx, k, asked, lacking,
		func(pipe redis.Pipeliner, f found) sketchCmds {
			return sketchCmds{pipe.Get(ctx, named(f.part.uniq, f.id)), pipe.HGetAll(ctx, named(f.part.sketch, f.id))}
		},
		func(key series.Key, c sketchCmds) error {
			found, err := c.sketches(key)
			totals = append(totals, found...)
			return err
		})
	return totals, err
}

func (c sketchCmds) sketches(key series.Key) ([]export.UniquesTotal, error) {
	var totals []export.UniquesTotal
	data, err := c.redis.Bytes()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	if err == nil {
		s, err := hll.ParseRedis(data, hll.Options{Hash: hll.Redis})
		if err != nil {
			return nil, err
		}
		totals = append(totals, export.UniquesTotal{Key: key, Scheme: redisScheme, Sketch: s})
	}
	fields, err := c.others.Result()
	if err != nil {
		return nil, err
	}
	for field, data := range fields {
		scheme, err := parseScheme(field)
		if err != nil {
			return nil, err
		}
		s, err := decodeSketch(scheme, []byte(data))
		if err != nil {
			return nil, err
		}
		totals = append(totals, export.UniquesTotal{Key: key, Scheme: scheme, Sketch: s})
	}
	slices.SortFunc(totals, func(a, b export.UniquesTotal) int {
		return strings.Compare(a.Scheme.String(), b.Scheme.String())
	})
	return totals, nil
}
