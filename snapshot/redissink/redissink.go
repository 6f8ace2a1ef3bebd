package redissink

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/snapshot"
)

// How it works. A partition is a set of series with the bookkeeping for them;
// all its keys share a hash tag, so that one script may work on any of them. A
// single server has one partition, a cluster several. Each is a store of its own
// as sinkkit.Mirror asks for, with a Mirror for each source:
//
//	claim ──▶ rows, …, buckets, …, merge, … ──▶ finish   one flush of a partition
//	  │           │                                │
//	  ▼           ▼                                ▼
//	pending    applied += 1                 seq, mark = this flush's
//	  └────────── the writer's standing ───────────┘
//
// Redis has no transaction of bounded length over any number of keys: a script
// that wrote 100,000 rows would stop the server for half a second. So a flush is
// many short scripts. Each looks at the writer's standing first: it runs only if
// its flush is the pending one and it is its turn. What is repeated by the
// client library or the network, comes late, or comes from a clone of the
// process, so does nothing. Rows keep what they were in the last whole flush,
// for the case that this one never ends.
//
// Invariants: a row changes only while its writer lives, under the standing's
// flush. A dead writer's standing never changes but to a tombstone. Each script
// is one atomic step, and may be run again.
//
// A bucket keeps its sum beside the rows of its writers, so that nobody has to add
// up dead ones. What a dead writer's broken flush has left in a bucket is taken back
// by the writer itself, if it comes back: it alone would count that again, and it
// knows in which buckets.
//
// Rejected: HINCRBY of differences (a repeated request counts twice); WATCH (a
// hot key never gets through); MULTI (it cannot look before it writes); a
// standing for each hash slot, with keys named by series alone (16,384 standings
// a writer, and scripts of a few rows each).
//
// Limits: a partition lives on one node, so one flush of one partition uses one
// core there.

// Options say where a Sink keeps its keys. Only Client is required.
type Options struct {
	// Client is the caller's, who closes it. Its retries are harmless.
	Client redis.UniversalClient

	// Prefix begins the name of each key. It must not contain { or }.
	Prefix string

	// Lease is for how long a writer that sends nothing counts as alive, by
	// the store's clock; 0 means an hour. A process that comes back later
	// cannot hand on what it had not yet exported when it died.
	Lease time.Duration

	// Partitions is into how many hash slots the keys go, for good: what is
	// in the store fixes it. 0 means 16 for a *redis.ClusterClient or a
	// *redis.Ring, and for a single server no hash tags at all.
	Partitions int

	// Buckets is how many of the newest buckets of a series the store keeps
	// at each resolution; 0 means 120. Each is kept for at least five minutes,
	// and for up to an eighth longer than that says, by chance.
	Buckets int

	// Logger gets failures of what Write does besides. nil means slog.Default().
	Logger *slog.Logger
}

const (
	defaultLease      = time.Hour
	clusterPartitions = 16
	maxPartitions     = 16384 // as many as a cluster has slots
)

// A Sink keeps the counts of a fleet in Redis and reads them back. Totals,
// Uniques, Window, Count and Sweep are safe for concurrent use, with Write too; Writes
// come one at a time. A Sink remembers what it wrote, in 190 to 240 bytes for each
// series of each writer whose snapshots it was given.
type Sink struct {
	client redis.UniversalClient
	parts  []partition
	lease  time.Duration
	log    *slog.Logger

	buckets int // how many are kept
	prefix  string
	layout  string
	checked atomic.Bool // the store has this layout

	sources map[snapshot.WriterID]*source // of Write
	sweepAt time.Time                     // of Write: not before
}

// New returns a Sink. It does not connect.
func New(o Options) (*Sink, error) {
	switch {
	case o.Client == nil:
		return nil, errors.New("hotcount/redissink: Options.Client is nil")
	case strings.ContainsAny(o.Prefix, "{}"):
		return nil, fmt.Errorf("hotcount/redissink: Options.Prefix %q contains a brace", o.Prefix)
	case o.Lease < 0:
		return nil, fmt.Errorf("hotcount/redissink: Options.Lease %v is negative", o.Lease)
	case o.Buckets < 0:
		return nil, fmt.Errorf("hotcount/redissink: Options.Buckets %d is negative", o.Buckets)
	case o.Partitions < 0 || o.Partitions > maxPartitions:
		return nil, fmt.Errorf("hotcount/redissink: Options.Partitions %d is not in 0 to %d", o.Partitions, maxPartitions)
	}
	if o.Partitions == 0 {
		switch o.Client.(type) {
		case *redis.ClusterClient, *redis.Ring:
			o.Partitions = clusterPartitions
		}
	}
	if o.Lease == 0 {
		o.Lease = defaultLease
	}
	if o.Buckets == 0 {
		o.Buckets = defaultBuckets
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	k := &Sink{
		client:  o.Client,
		parts:   newPartitions(o.Prefix, o.Partitions),
		lease:   o.Lease,
		log:     o.Logger,
		buckets: o.Buckets,
		prefix:  o.Prefix,
		layout:  fmt.Sprintf("%d %d", layoutVersion, o.Partitions),
		sources: make(map[snapshot.WriterID]*source),
	}
	k.sweepAt = time.Now().Add(k.untilSweep())
	return k, nil
}

// String names the sink in logs: "redis", and the prefix if there is one.
func (k *Sink) String() string {
	if k.prefix == "" {
		return "redis"
	}
	return "redis " + k.prefix
}

// untilSweep returns a time in which a fleet of any size has swept often enough,
// and in which its members do not do so together.
func (k *Sink) untilSweep() time.Duration {
	return k.lease/4 + rand.N(k.lease/4+1)
}
