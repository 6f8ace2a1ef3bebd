// Package index is a hash table of pointers whose readers take no lock.
//
// It is the inside of the engine's registry: look-ups outnumber insertions by
// many orders of magnitude, and an insertion must not stall them.
//
//	Index ── Shards × { mutex, count, slots } ── slots: []*T, open addressing
//
// A hash picks a shard by its top bits and a first slot by its low bits;
// collisions go to the next slot. Readers load the slots atomically. Writers
// hold the shard's mutex; they fill an empty slot in place, or publish a whole
// new table when the old one is full.
//
// Invariant: a reader never sees an entry that was not put in, but it may miss
// one that a writer is moving. A miss is therefore no answer: the caller locks
// the shard and looks again, where nothing moves.
//
// Rejected: sync.Map boxes a string key on every load; a copied map is
// quadratic to fill; tombstones need a sentinel and fill the table, and are not
// needed, since shifting entries back on removal can only cause a miss.
//
// Limits: a table never shrinks, so that removal costs no more than a look-up.
package index

import (
	"slices"
	"sync"
	"sync/atomic"
)

const (
	shardBits = 6
	// Shards is how many locks share the writers.
	Shards = 1 << shardBits

	line       = 64 // bytes that cores share as one
	firstSlots = 8  // a line of pointers

	// A table grows when it is 3/4 full: linear probing then looks at 8.5
	// slots on an average miss and 2.5 on a hit (Knuth, TAOCP vol. 3, 6.4).
	maxLoadNum, maxLoadDen = 3, 4
)

// An Index holds pointers to T under 64-bit hashes. Make one with New. The
// caller compares keys: entries with equal hashes may differ.
type Index[T any] struct {
	hash   func(*T) uint64
	shards [Shards]Shard[T]
}

// New returns an empty index. hash returns an entry's hash, always the same; it
// is called when entries move, not when they are looked up.
func New[T any](hash func(*T) uint64) *Index[T] {
	return &Index[T]{hash: hash}
}

// Shard returns the part of the index that holds entries with this hash.
func (x *Index[T]) Shard(hash uint64) *Shard[T] {
	return &x.shards[hash>>(64-shardBits)]
}

// All calls yield with every entry until it returns false. Entries put in or
// removed meanwhile may be yielded or not; every other one is yielded once. All
// holds a shard's lock while it copies that shard's pointers, not while it
// yields, so yield may insert and remove.
func (x *Index[T]) All(yield func(*T) bool) {
	var entries []*T
	for i := range x.shards {
		entries = x.shards[i].appendTo(entries[:0])
		for _, e := range entries {
			if !yield(e) {
				return
			}
		}
	}
}

// A Shard is one part of an index. Its mutex orders the writers: Insert and
// Remove need it held, Probe does not.
type Shard[T any] struct {
	table atomic.Pointer[[]atomic.Pointer[T]]
	_     [line]byte // keep the lock off the line that all look-ups read
	sync.Mutex
	n int
	_ [line]byte
}

// Probe returns what a look-up of hash has to compare.
func (s *Shard[T]) Probe(hash uint64) Probe[T] {
	return Probe[T]{s.slots(), hash}
}

// A Probe walks the entries that may have some hash.
type Probe[T any] struct {
	slots []atomic.Pointer[T]
	at    uint64
}

// Next returns the next entry, nil when there are no more.
func (p *Probe[T]) Next() *T {
	if len(p.slots) == 0 {
		return nil
	}
	e := p.slots[p.at&uint64(len(p.slots)-1)].Load()
	p.at++
	return e
}

// slots returns the table, whose length is a power of two, or zero while the
// shard is empty. An entry with hash h is at h&mask, or in a slot after it,
// cyclically, before the first nil.
func (s *Shard[T]) slots() []atomic.Pointer[T] {
	if t := s.table.Load(); t != nil {
		return *t
	}
	return nil
}

func (s *Shard[T]) appendTo(entries []*T) []*T {
	s.Lock()
	defer s.Unlock()
	entries = slices.Grow(entries, s.n)
	slots := s.slots()
	for i := range slots {
		if e := slots[i].Load(); e != nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// Insert adds an entry that the shard does not hold. The shard must be locked.
func (s *Shard[T]) Insert(x *Index[T], e *T) {
	slots := s.slots()
	if (s.n+1)*maxLoadDen > len(slots)*maxLoadNum {
		slots = s.grow(x, slots)
	}
	place(slots, x.hash(e), e)
	s.n++
}

func (s *Shard[T]) grow(x *Index[T], old []atomic.Pointer[T]) []atomic.Pointer[T] {
	slots := make([]atomic.Pointer[T], max(firstSlots, 2*len(old)))
	for i := range old {
		if e := old[i].Load(); e != nil {
			place(slots, x.hash(e), e)
		}
	}
	s.table.Store(&slots)
	return slots
}

func place[T any](slots []atomic.Pointer[T], hash uint64, e *T) {
	mask := uint64(len(slots) - 1)
	i := hash & mask
	for slots[i].Load() != nil {
		i = (i + 1) & mask
	}
	slots[i].Store(e)
}

// Remove takes an entry out, if it is there. The shard must be locked.
func (s *Shard[T]) Remove(x *Index[T], e *T) {
	slots := s.slots()
	if len(slots) == 0 {
		return
	}
	mask := uint64(len(slots) - 1)
	hole := x.hash(e) & mask
	for f := slots[hole].Load(); f != e; f = slots[hole].Load() {
		if f == nil {
			return
		}
		hole = (hole + 1) & mask
	}
	// Knuth's algorithm R: move back each later entry of the run whose own
	// first slot is not past the hole, so that no probe stops short.
	for i := (hole + 1) & mask; ; i = (i + 1) & mask {
		f := slots[i].Load()
		if f == nil {
			break
		}
		if first := x.hash(f) & mask; (i-first)&mask >= (i-hole)&mask {
			slots[hole].Store(f)
			hole = i
		}
	}
	slots[hole].Store(nil)
	s.n--
}
