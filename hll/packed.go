package hll

import "sync/atomic"

// A packed table holds short keys in half the room of a table, by leaving out
// of a slot what the slot's place says. It has 2^bits slots of 16 bits, and
// splits the 25 bits of a key into home, the upper ones, and the remainder:
//
//	slot = remainder (25-bits) | probe (bits-9)
//
// Probe n of a key, counted from 1, is the slot n-1 steps on from home, where
// a step is odd and made from the remainder. Slot and place so give the key
// back, and a slot whose probe is 0 is empty. A key whose probes are all taken
// has no room here, be the table full or not.
//
// As in a table, keys are never removed and readers need no lock. The writer,
// of which there is one, has two slots in each word it stores.
type packed struct {
	bits  uint8
	words []atomic.Uint32
}

const (
	slotBits  = 16
	wordSlots = 2

	// packedMinBits leaves three bits for the probe. With fewer, too many
	// keys would find no room for the table to be worth its while.
	packedMinBits = 12
)

func newPacked(bits uint8) packed {
	return packed{bits: bits, words: make([]atomic.Uint32, 1<<bits/wordSlots)}
}

// packedCapacity is how many keys to give 2^bits slots: seven eighths. With d
// probes to a key, about 2^bits * (7/8)^(d+1) / (d+1) of them find no room: 4.9 %
// at 12 bits, 0.8 % at 13.
func packedCapacity(bits uint8) int { return 1 << bits / 8 * 7 }

func (t *packed) probeBits() uint8 { return slotBits - (keyBits - t.bits) }

// find returns the place of k if it is in t, or else the first empty one.
func (t *packed) find(k key) (place, slot uint32, found, room bool) {
	if len(t.words) == 0 || k.long() {
		return 0, 0, false, false
	}
	probeBits, mask := t.probeBits(), uint32(1)<<t.bits-1
	rest := k.top() & (1<<(keyBits-t.bits) - 1)
	place = k.top() >> (keyBits - t.bits)
	for slot = rest<<probeBits | 1; slot&(1<<probeBits-1) != 0; slot++ {
		switch t.load(place) {
		case slot:
			return place, slot, true, true
		case 0:
			return place, slot, false, true
		}
		place = (place + packedStep(rest)) & mask
	}
	return 0, 0, false, false
}

func packedStep(rest uint32) uint32 { return rest<<1 | 1 }

func (t *packed) load(place uint32) uint32 {
	return t.words[place/wordSlots].Load() >> (place % wordSlots * slotBits) & (1<<slotBits - 1)
}

// store fills an empty slot.
func (t *packed) store(place, slot uint32) {
	w := &t.words[place/wordSlots]
	w.Store(w.Load() | slot<<(place%wordSlots*slotBits))
}

// all yields the keys in no order.
func (t *packed) all(yield func(key) bool) bool {
	for place := range uint32(len(t.words) * wordSlots) {
		slot := t.load(place)
		if slot == 0 {
			continue
		}
		probeBits := t.probeBits()
		rest, probe := slot>>probeBits, slot&(1<<probeBits-1)
		home := (place - (probe-1)*packedStep(rest)) & (1<<t.bits - 1)
		if !yield(key((home<<(keyBits-t.bits) | rest) << 1)) {
			return false
		}
	}
	return true
}
