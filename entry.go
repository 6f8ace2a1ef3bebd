package hotcount

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/stripe"
)

// An entry is one series, a member of a family: its count, its name, and what the sweep
// remembers of it. A *Counter is an *entry to its caller.
//
// Life of a series of counts. The steps to the right run in the sweep, the part
// of Snapshot that visits every series in the index:
//
//		live ──idle──▶ dormant ──acknowledged──▶ parked ──unreachable──▶ gone
//		 ▲                │ ▲                       │
//		 └─────an add─────┘ └─an add or a look-up───┘
//
//	  - live: in the index, one row in each snapshot.
//	  - dormant: in the index. Its last value is a Final row in each snapshot
//	    until every sink has acknowledged one. more.offset is that value, so that
//	    the row never changes: adds made from here on are a new row with a later
//	    Created.
//	  - parked: out of the index, held by the engine through a weak pointer only.
//	    A handle that a caller kept still works; the next sweep finds its adds.
//	    When the last handle is dropped, a finalizer looks for adds that no sweep
//	    has seen, and brings the series back if there are any.
//
// Two rows of one key never have the same Created: a series that comes back
// itself moves its own on, and Engine.notBefore keeps a new one of the same name
// behind all that have left.
//
// Rejected: a second object between handle and count, which the engine could
// hold while the caller holds the handle, costs each add a dependent load and
// each series 16 bytes; dropping handles after a grace period loses adds.
type entry struct {
	_ [pad32]byte

	count  stripe.Counter
	fam    *family
	labels string // values in fam's label order, packed by series.AppendValue
	more   atomic.Pointer[more]

	// The sweep's own, guarded by Engine.mu once the series is in the index.
	seen    int64         // count when it was last swept
	created uint32        // seconds since the engine started
	active  atomic.Uint32 // likewise, when a sweep last saw the count change
}

// deleted is the value of series.active that asks the sweep to retire the
// series without waiting for it to idle.
const deleted = math.MaxUint32

// touch says that the series was active at this age, unless it is to be retired.
func (s *entry) touch(age uint32) {
	if a := s.active.Load(); a != deleted {
		s.active.CompareAndSwap(a, age) // unless Delete comes between
	}
}

// more is what few series need: those restored, retired or not counters. It is
// replaced, never changed, by the sweep.
type more struct {
	prior   int64    // total restored from earlier runs
	offset  int64    // part of count that earlier rows of this run have exported
	retired uint64   // seq of the snapshot that first held the Final row; 0 while live
	uniques *Uniques // nil for a counter
}

// A series fills one 64-byte line and its size class, so that two counters made
// one after the other and hammered by two cores share no line while they are
// cold. This fails to compile if the size is another.
const lineSize = 64

var _ [lineSize]byte = [unsafe.Sizeof(entry{})]byte{}

// pad32 makes up for pointers of 4 bytes: 16 bytes less in all.
const pad32 = 16 * (8 - unsafe.Sizeof(uintptr(0))) / 4

// total returns the count of this run and those before it, since the series was
// last retired.
func (s *entry) total() int64 {
	// more first: an offset newer than the count would show a value that
	// never was.
	m := s.more.Load()
	n := s.count.Value()
	if m != nil {
		n += m.prior - m.offset
	}
	return n
}

// unexported returns what was added to a retired series since.
func (s *entry) unexported() int64 { return s.count.Value() - s.more.Load().offset }

func (s *entry) key() series.Key { return keyOf(s.fam.desc, s.labels) }

// keyOf returns the key of values that pack or an earlier key has packed.
func keyOf(d series.Desc, packed string) series.Key {
	k, err := d.PackedKey(packed)
	if err != nil {
		panic(err)
	}
	return k
}

// matches reports whether packed holds the values that order picks, one by one,
// for as many as the family has labels.
func matches(packed string, values []string, order []uint8) bool {
	for _, i := range order {
		v := values[i]
		n := len(v)
		// Nearly every length is packed in one byte. Cutting such a value
		// here and not in a call saves a tenth of a look-up.
		if n < 0x80 && n < len(packed) && packed[0] == byte(n) {
			if packed[1:1+n] != v {
				return false
			}
			packed = packed[1+n:]
			continue
		}
		got, rest, ok := series.CutValue(packed)
		if !ok || got != v {
			return false
		}
		packed = rest
	}
	return true
}

// pack packs the values that order picks.
func pack(values []string, order []uint8) string {
	var buf [128]byte // on the stack; longer values move to the heap
	packed := buf[:0]
	for _, i := range order {
		packed = series.AppendValue(packed, values[i])
	}
	return string(packed)
}
