package redissink

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/hotcount/hotcount/series"
)

// layoutVersion is raised when old and new code must not share a store.
const layoutVersion = 2

// partition holds the names of a partition's keys. Series are in names as
// Key.String writes them, between braces, which no escape is needed for: what
// begins a name is of fixed length, and one brace ends it. Braces in front, of a
// partition's tag, are the first, and the only ones that a cluster looks at.
type partition struct {
	counter  string // and the series, "}": hash, a row for each writer, and "base"
	count    string // and the series, "}": the total that was last asked for
	uniq     string // and the series, "}": Redis' own sketch
	views    string // and the series, "}:", resolution, ":", start: hash, the total, and a row for each writer
	sketch   string // and the series, "}": hash, a sketch for each other scheme
	writers  string // hash of standings
	leases   string // sorted set of writers by when their leases or tombstones end
	counters string // sorted set of series that have counters
	uniques  string // sorted set of series that have sketches
	scratch  string
}

// newPartitions returns n partitions, or one without a hash tag if n is 0.
func newPartitions(prefix string, n int) []partition {
	if n == 0 {
		return []partition{newPartition(prefix)}
	}
	var parts []partition
	for i := range n {
		parts = append(parts, newPartition(fmt.Sprintf("%s{%d}:", prefix, i)))
	}
	return parts
}

func newPartition(prefix string) partition {
	own := prefix + "hotcount:"
	return partition{
		counter:  prefix + "counter:{",
		count:    prefix + "count:{",
		uniq:     prefix + "uniq:{",
		views:    prefix + "views:{",
		sketch:   prefix + "sketch:{",
		writers:  own + "writers",
		leases:   own + "leases",
		counters: own + "counters",
		uniques:  own + "uniques",
		scratch:  own + "scratch",
	}
}

// named returns the key of a series.
func named(prefix, id string) string { return prefix + id + "}" }

// partOf returns the index of the partition of a series. The hash is part of the
// layout.
func (k *Sink) partOf(id []byte) int {
	if len(k.parts) == 1 {
		return 0
	}
	return int(xxhash.Sum64(id) % uint64(len(k.parts)))
}

// KeyNames are the names of the Redis keys of one series.
type KeyNames struct {
	Counter string // hash with a row for each writer
	Count   string // the total as Count last found it, in decimal
	Uniques string // sketch of elements hashed as PFADD does, for PFCOUNT
}

// KeyNames returns the names of a series' keys, which depend on the prefix and
// the partitions.
func (k *Sink) KeyNames(key series.Key) KeyNames {
	id := key.AppendText(nil)
	p := &k.parts[k.partOf(id)]
	return KeyNames{named(p.counter, string(id)), named(p.count, string(id)), named(p.uniq, string(id))}
}

// padded returns n as a standing has it.
func padded(n uint64) string { return fmt.Sprintf("%020d", n) }
