package hll

import (
	"math/bits"
	"sync/atomic"
)

// A table is an open-addressed set of keys in a power of two of slots; 0 is an
// empty slot. Keys are never removed, so a probe may end at the first empty
// slot, and any number of readers may probe while one writer inserts.
type table []atomic.Uint32

// tableCapacity is how many keys to give so many slots: three quarters, where a
// probe for a key that is not there looks at 8.5 slots (Knuth, volume 3,
// section 6.4).
func tableCapacity(slots int) int { return slots / 4 * 3 }

// find returns the slot that holds k, or else the one where it belongs.
func (t table) find(k key) (slot *atomic.Uint32, found bool) {
	// Multiplying by 2^32 over the golden ratio spreads keys that hold no
	// hash worth the name, and takes nothing from those that do.
	const golden = 0x9e3779b9
	mask := uint32(len(t) - 1)
	i := uint32(k) * golden >> (32 - bits.Len32(mask))
	for {
		slot = &t[i&mask]
		switch slot.Load() {
		case uint32(k):
			return slot, true
		case 0:
			return slot, false
		}
		i++
	}
}

func (t table) has(k key) bool {
	_, found := t.find(k)
	return found
}

// all yields the keys in no order.
func (t table) all(yield func(key) bool) bool {
	for i := range t {
		if k := key(t[i].Load()); k != 0 && !yield(k) {
			return false
		}
	}
	return true
}
