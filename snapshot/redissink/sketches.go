package redissink

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// Sketches are united with what is there, by Redis itself where they hash as its
// own PFADD does. The others go to a hash beside, with a field for each scheme:
// they are united here, and put back if nobody else did so meanwhile. Unions may
// be repeated, so sketches need no rows for writers and nothing to add up.

// redisScheme is that of elements hashed as PFADD does.
var redisScheme = hll.Scheme{Hash: hll.Redis}

// maxReplaces is how often one Write tries to put back a union before it leaves
// that to the next.
const maxReplaces = 16

// A redisSketch is one that Redis can merge.
type redisSketch struct {
	key  series.Key
	data []byte
}

// newRedisSketch reports false for a sketch that Redis cannot merge: of another
// hash, too coarse, or broken, which the union will say.
func newRedisSketch(u snapshot.UniquesRow) (redisSketch, bool) {
	if u.Scheme != redisScheme {
		return redisSketch{}, false
	}
	s, err := decodeSketch(u.Scheme, u.Sketch)
	if err != nil {
		return redisSketch{}, false
	}
	data, err := s.AppendRedis(nil)
	return redisSketch{u.Key, data}, err == nil
}

// parseScheme reads what hll.Scheme.String writes.
func parseScheme(s string) (hll.Scheme, error) {
	var scheme hll.Scheme
	name, seed, seeded := strings.Cut(s, " seed ")
	if seeded {
		n, err := strconv.ParseUint(seed, 16, 64)
		if err != nil {
			return scheme, fmt.Errorf("hotcount/redissink: %w: a sketch is of the scheme %.80q", export.ErrForeign, s)
		}
		scheme.SeedPrint = n
	}
	for _, h := range []hll.Hash{hll.XXHash, hll.Redis} {
		if h.String() == name {
			scheme.Hash = h
			return scheme, nil
		}
	}
	return scheme, fmt.Errorf("hotcount/redissink: %w: a sketch is of the scheme %.80q", export.ErrForeign, s)
}

// decodeSketch returns the sketch that data holds. Of a seed, only a print is
// known, so the sketch has none: it counts right, but must not be added to.
func decodeSketch(scheme hll.Scheme, data []byte) (*hll.Sketch, error) {
	s, err := hll.New(hll.Options{Hash: scheme.Hash})
	if err != nil {
		return nil, err
	}
	return s, s.UnmarshalBinary(data)
}

func (sh *share) callMerge(index int, sketches []redisSketch) *call {
	c := &call{
		script: &mergeScript,
		keys:   []string{sh.part.writers, sh.part.uniques, sh.part.scratch},
		args:   append(sh.args(), index, len(sh.part.uniq)),
	}
	for _, s := range sketches {
		c.keys = append(c.keys, named(sh.part.uniq, s.key.String()))
		c.args = append(c.args, s.data)
	}
	return c
}

// replace unites the sketches that Redis cannot merge with those that it has.
func (k *Sink) replace(ctx context.Context, sh *share) error {
	for sketches := range slices.Chunk(sh.others, sketchesPerCall) {
		if err := k.replaceSome(ctx, sh, sketches); err != nil {
			return err
		}
		sh.requests++
	}
	return nil
}

// What replace.lua answers.
const (
	replaced  = 1
	overtaken = 2 // by another writer's union
)

func (k *Sink) replaceSome(ctx context.Context, sh *share, sketches []snapshot.UniquesRow) error {
	for range maxReplaces {
		c, err := k.unite(ctx, sh, sketches)
		if err != nil {
			return err
		}
		k.run(ctx, c)
		switch answer, err := c.cmd.Int(); {
		case err != nil:
			return explain(err)
		case answer == replaced:
			return nil
		case answer != overtaken:
			return fmt.Errorf("hotcount/redissink: %w: writer %v", export.ErrInterrupted, sh.mirror.Writer())
		}
	}
	return fmt.Errorf("hotcount/redissink: %w: %d times, at one of %d sketches", export.ErrInterrupted, maxReplaces, len(sketches))
}

// unite reads the sketches there and returns the call that replaces them.
func (k *Sink) unite(ctx context.Context, sh *share, sketches []snapshot.UniquesRow) (*call, error) {
	c := &call{
		script: &replaceScript,
		keys:   []string{sh.part.writers, sh.part.uniques},
		args:   append(sh.args(), sh.requests, len(sh.part.sketch)),
	}
	pipe := k.client.Pipeline()
	var there []*redis.StringCmd
	for _, u := range sketches {
		key := named(sh.part.sketch, u.Key.String())
		c.keys = append(c.keys, key)
		there = append(there, pipe.HGet(ctx, key, u.Scheme.String()))
	}
	pipe.Exec(ctx) // each command has its error
	for i, u := range sketches {
		old, err := there[i].Bytes()
		digest := ""
		switch {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return nil, explain(err)
		default:
			sum := sha1.Sum(old)
			digest = hex.EncodeToString(sum[:])
		}
		union, err := uniteTwo(u.Scheme, u.Sketch, old)
		if err != nil {
			return nil, fmt.Errorf("hotcount/redissink: %s: %w", c.keys[i+2], err)
		}
		c.args = append(c.args, u.Scheme.String(), digest, union)
	}
	return c, nil
}

// uniteTwo returns the union of two encoded sketches, in the lower precision of
// theirs. None is as good as empty.
func uniteTwo(scheme hll.Scheme, a, b []byte) ([]byte, error) {
	x, err := decodeSketch(scheme, a)
	if err != nil {
		return nil, err
	}
	if b != nil {
		y, err := decodeSketch(scheme, b)
		if err != nil {
			return nil, err
		}
		if y.Options().Precision < x.Options().Precision {
			x, y = y, x
		}
		if err := x.Merge(y); err != nil {
			return nil, err
		}
	}
	return x.MarshalBinary()
}
