package stripe

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Group is a fixed number of counters that are written together: requests,
// bytes, errors and latency of one route. They share each stripe, so an update
// of all of them is one pick and two atomic operations however many they are.
//
// Its methods may be called from any goroutine. An Add synchronizes before any
// read that includes it. A read is no cut through time: see the package
// comment. It may also see part of an update.
//
// Inside, a stripe is a lock and plain sums on the same cache line. A writer
// only ever tries the lock; if a reader, or a second writer of that stripe, has
// it, the update goes to a base of atomic words that all stripes share.
type Group struct {
	k      int
	stride int     // words a stripe takes: a power of two, whole cache lines
	lines  []int64 // stripes, each lock, k sums, padding
	base   []word
}

const (
	unlocked = iota
	locked
)

// NewGroup returns a group of k counters, all zero, with a stripe for each of
// GOMAXPROCS. It panics if k is less than 1.
func NewGroup(k int) *Group {
	if k < 1 {
		panic("hotcount/stripe: a group needs a counter")
	}
	stripes := roundUp(runtime.GOMAXPROCS(0))
	stride := max(roundUp(1+k), int(lineSize/unsafe.Sizeof(int64(0))))
	return &Group{k: k, stride: stride, lines: make([]int64, stripes*stride), base: make([]word, k)}
}

// Len returns the number of counters.
func (g *Group) Len() int {
	return g.k
}

// Add adds ns[0] to the first counter, ns[1] to the second, and so on. It never
// blocks and allocates nothing. It panics if there are more ns than counters.
func (g *Group) Add(ns ...int64) {
	if len(ns) > g.k {
		panic("hotcount/stripe: more adds than the group has counters")
	}
	// Pinned from the pick to the unlock, the holder of a lock keeps running.
	lock, sums := g.stripe(procPin())
	if atomic.CompareAndSwapInt64(lock, unlocked, locked) {
		for i, n := range ns {
			sums[i] += n
		}
		atomic.StoreInt64(lock, unlocked)
		procUnpin()
		return
	}
	procUnpin()
	for i, n := range ns {
		g.base[i].Add(n)
	}
}

// Value returns the sum of counter i, counted from 0. It panics if there is no
// such counter.
func (g *Group) Value(i int) int64 {
	sum := g.base[i].Load()
	g.each(func(sums []int64) { sum += sums[i] })
	return sum
}

// Values appends the sum of each counter to dst and returns it.
func (g *Group) Values(dst []int64) []int64 {
	from := len(dst)
	for i := range g.base {
		dst = append(dst, g.base[i].Load())
	}
	g.each(func(sums []int64) {
		for i, n := range sums {
			dst[from+i] += n
		}
	})
	return dst
}

// Drain appends the sum of each counter to dst, returns it, and takes those
// sums out of the group: every update is in exactly one Drain or remains, each
// counter of it for itself.
func (g *Group) Drain(dst []int64) []int64 {
	from := len(dst)
	for i := range g.base {
		dst = append(dst, g.base[i].Swap(0))
	}
	g.each(func(sums []int64) {
		for i, n := range sums {
			dst[from+i] += n
		}
		clear(sums)
	})
	return dst
}

// stripe returns the lock and the sums of stripe i, masked as table.at does.
func (g *Group) stripe(i int) (lock *int64, sums []int64) {
	at := i * g.stride & (len(g.lines) - 1)
	return &g.lines[at], g.lines[at+1 : at+1+g.k]
}

// each calls f with the sums of one stripe after the other, and with its lock
// held. A writer holds it for a few instructions, another reader not much
// longer, so waiting is a matter of letting them run.
func (g *Group) each(f func(sums []int64)) {
	for i := range len(g.lines) / g.stride {
		lock, sums := g.stripe(i)
		for !atomic.CompareAndSwapInt64(lock, unlocked, locked) {
			runtime.Gosched()
		}
		f(sums)
		atomic.StoreInt64(lock, unlocked)
	}
}
