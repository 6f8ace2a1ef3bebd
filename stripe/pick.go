package stripe

import (
	"math/rand/v2"
	"unsafe"
)

// golden is 2^32 divided by the golden ratio: multiplying by it spreads
// consecutive numbers evenly over the high bits (Knuth, TAOCP 3, 6.4).
const golden = 0x9E3779B1

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
	return int(block * golden >> 16)
}

// draw returns a random number.
func draw() int {
	return int(rand.Uint32())
}
