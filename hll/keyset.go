package hll

import "sync/atomic"

// A keySet is the state of a small sketch: a set of keys. While there are few
// they are in a table of 32-bit slots. When that would outgrow 2^packedMinBits
// slots' worth of 16 bits, they move to a packed table, and the table is left
// with those for which that has no room.
//
// One writer at a time, readers at any time. A keySet that is full is
// replaced by a bigger one, under the readers of the old.
type keySet struct {
	n      atomic.Int64 // keys, counted before they can be found
	spilt  int          // of them, those in table; the writer's
	table  table
	packed packed
}

const (
	slotBytes     = 4
	tableMinSlots = 16 // one cache line on amd64

	// tableMaxSlots is where a packed table with as many bytes holds more.
	tableMaxSlots = 1 << packedMinBits * slotBits / (slotBytes * byteBits)

	// spillMinSlots is the first size of the table beside a packed one.
	spillMinSlots = 64
)

// smallMax returns how many keys a small sketch of precision p holds: as many
// as fit in the bytes that its registers would take.
func smallMax(p uint8) int {
	if p > packedMinBits {
		return packedCapacity(p - 1) // 2^(p-1) slots of two bytes
	}
	slots := 1 << p / slotBytes
	if slots < tableMinSlots {
		return 0
	}
	return tableCapacity(slots)
}

// newKeySet returns a set with room for n keys, unless too many of them spill.
func newKeySet(n int) *keySet {
	slots := tableMinSlots
	for tableCapacity(slots) < n && slots < tableMaxSlots {
		slots *= 2
	}
	if n <= tableCapacity(slots) {
		return &keySet{table: make(table, slots)}
	}
	bits := uint8(packedMinBits)
	for packedCapacity(bits) < n {
		bits++
	}
	return &keySet{packed: newPacked(bits), table: make(table, spillMinSlots)}
}

func (s *keySet) len() int { return int(s.n.Load()) }

func (s *keySet) has(k key) bool {
	if _, _, found, room := s.packed.find(k); room {
		return found
	}
	return s.table.has(k)
}

// with adds k to s, and returns s or the set that takes its place.
func (s *keySet) with(k key) *keySet {
	for !s.insert(k) {
		s = s.bigger()
	}
	return s
}

// insert adds k, unless it is not there and s is full. The count comes first:
// whoever finds k must find it counted.
func (s *keySet) insert(k key) bool {
	place, slot, found, room := s.packed.find(k)
	if found {
		return true
	}
	if room && !s.packedFull() {
		s.n.Add(1)
		s.packed.store(place, slot)
		return true
	}
	spill, found := s.table.find(k)
	if found {
		return true
	}
	if s.spilt == tableCapacity(len(s.table)) || s.packedFull() {
		return false
	}
	s.n.Add(1)
	s.spilt++
	spill.Store(uint32(k))
	return true
}

func (s *keySet) packedFull() bool {
	return s.packed.words != nil && s.len() == packedCapacity(s.packed.bits)
}

// bigger returns a copy of s, which is full, with more room.
func (s *keySet) bigger() *keySet {
	next := newKeySet(s.len() + 1)
	if s.packed.words != nil && !s.packedFull() { // the table is
		next = &keySet{packed: newPacked(s.packed.bits), table: make(table, 2*len(s.table))}
	}
	for k := range s.all {
		next = next.with(k)
	}
	return next
}

// all yields the keys in no order.
func (s *keySet) all(yield func(key) bool) {
	if s.packed.all(yield) {
		s.table.all(yield)
	}
}

// size returns the bytes that s points to.
func (s *keySet) size() int {
	return len(s.table)*slotBytes + len(s.packed.words)*wordBytes
}
