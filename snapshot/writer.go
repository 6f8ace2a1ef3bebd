package snapshot

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// A WriterID names one run of one engine: 128 bits, minted at start and never
// reused. The first 48 bits are Unix milliseconds, so ids sort by start time;
// the rest but six are from crypto/rand. The layout is UUID version 7
// (RFC 9562, section 5.7), which lets PostgreSQL store one as a uuid.
//
// Host names and process ids are no part of it: pods share them, clones copy
// them and reboots repeat them. The zero WriterID names no writer.
type WriterID [16]byte

// NewWriterID mints an id. It reads the wall clock once.
func NewWriterID() WriterID {
	var w WriterID
	rand.Read(w[:]) // never fails: crypto/rand ends the process instead
	ms := uint64(time.Now().UnixMilli())
	binary.BigEndian.PutUint16(w[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(w[2:], uint32(ms))
	w[6] = w[6]&0x0f | 0x70 // version 7
	w[8] = w[8]&0x3f | 0x80 // RFC 9562 variant
	return w
}

// ParseWriterID reads the form that String writes.
func ParseWriterID(s string) (WriterID, error) {
	var w WriterID
	if len(s) != 32 {
		return WriterID{}, fmt.Errorf("hotcount/snapshot: writer id has %d digits, want 32", len(s))
	}
	if _, err := hex.Decode(w[:], []byte(s)); err != nil {
		return WriterID{}, fmt.Errorf("hotcount/snapshot: writer id: %w", err)
	}
	return w, nil
}

// String returns 32 lower-case hexadecimal digits. Strings of ids sort as the
// ids do.
func (w WriterID) String() string { return hex.EncodeToString(w[:]) }

// Compare orders ids by start time, to the millisecond, then by their random
// part.
func (w WriterID) Compare(x WriterID) int { return bytes.Compare(w[:], x[:]) }

// IsZero reports whether w names no writer.
func (w WriterID) IsZero() bool { return w == WriterID{} }

// Time returns when the id was minted, by the minting host's wall clock.
func (w WriterID) Time() time.Time {
	ms := uint64(binary.BigEndian.Uint16(w[0:]))<<32 | uint64(binary.BigEndian.Uint32(w[2:]))
	return time.UnixMilli(int64(ms))
}
