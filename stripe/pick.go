package stripe

import (
	"math/rand/v2"
	"unsafe"
)

// golden32 and golden64 are 2^32 and 2^64 divided by the golden ratio, made
// odd: multiplying by them spreads numbers that keep some distance, such as 1,
// evenly over the high bits (Knuth, TAOCP 3, 6.4).
const (
	golden32 = 0x9E3779B1
	golden64 = 0x9E3779B97F4A7C15
)

// minStackBits is the binary logarithm of the smallest goroutine stack, 2 KiB
// (runtime.stackMin). Two goroutines never share a block of that size.
const minStackBits = 11

// stackHash returns a number that stays the same, as a rule, while a goroutine
// calls from about the same depth, and that differs between goroutines. A
// stack may move when it grows, and then the number changes; nothing depends
// on it but speed.
func stackHash() int {
	var here byte
	block := uint32(uintptr(unsafe.Pointer(&here)) >> minStackBits)
	return int(block * golden32 >> 16)
}

// draw returns a random number.
func draw() int {
	return int(rand.Uint32())
}

// look says whether an add that made sum should look for contention. It hashes,
// because the low bits of a sum of equal adds may never change.
func look(sum int64) bool {
	return uint64(sum)*golden64>>32&(1<<lookBits-1) == 0
}
