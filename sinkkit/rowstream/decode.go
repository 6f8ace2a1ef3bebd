package rowstream

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// Decode returns what data encodes. Sketches are part of data. Errors wrap
// ErrFormat. Decode does not look into sketches; Apply does.
func Decode(data []byte) (Message, error) {
	if len(data) < headLen+sumLen {
		return Message{}, fmt.Errorf("%w: %d bytes, at least %d are needed", ErrFormat, len(data), headLen+sumLen)
	}
	if string(data[:len(magic)]) != magic {
		return Message{}, fmt.Errorf("%w: it begins with %q, not %q", ErrFormat, data[:len(magic)], magic)
	}
	if v := data[len(magic)]; v != version {
		return Message{}, fmt.Errorf("%w: version %d, want %d", ErrFormat, v, version)
	}
	body, sum := data[:len(data)-sumLen], binary.BigEndian.Uint32(data[len(data)-sumLen:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return Message{}, fmt.Errorf("%w: checksum %08x, want %08x", ErrFormat, got, sum)
	}
	return decodeBody(body)
}

// decodeBody decodes what the checksum has been checked of.
func decodeBody(body []byte) (Message, error) {
	kind := body[len(magic)+1]
	writer := snapshot.WriterID(body[len(magic)+2:])
	c := &cursor{rest: body[headLen:]}
	var m Message
	switch kind {
	case kindStanding:
		m.Standing = c.standing(writer)
	case kindCounters, kindUniques, kindBuckets:
		for more := true; more; more = len(c.rest) > 0 && c.err == nil {
			m.Rows = append(m.Rows, c.row(kind, writer))
		}
	default:
		return Message{}, fmt.Errorf("%w: kind %q", ErrFormat, kind)
	}
	if c.err != nil {
		return Message{}, fmt.Errorf("%w: byte %d: %w", ErrFormat, len(body)-len(c.rest), c.err)
	}
	return m, nil
}

// A cursor takes values off the front of rest. After the first error, which it
// keeps, they are all zero.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.fail("%d bytes are missing", n-uint64(len(c.rest)))
	}
	if c.err != nil {
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || n > 1 && c.rest[n-1] == 0 {
		c.fail("a number is cut off, too large, or longer than need be")
	}
	if c.err != nil {
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (c *cursor) row(kind byte, w snapshot.WriterID) Row {
	key, err := series.ParseKey(string(c.bytes(c.uvarint())))
	if err != nil {
		c.fail("%w", err)
	}
	r := Row{Key: key, Writer: w, Created: c.varint(), Seq: c.uvarint()}
	if kind == kindBuckets {
		if r.Resolution = time.Duration(c.uvarint()); r.Resolution <= 0 {
			c.fail("resolution %d", r.Resolution)
		}
	}
	if kind != kindUniques {
		r.Value, r.Prior = c.varint(), c.varint()
		return r
	}
	if b := c.bytes(1 + printLen); b != nil {
		r.Scheme = hll.Scheme{Hash: hll.Hash(b[0]), SeedPrint: binary.BigEndian.Uint64(b[1:])}
	}
	r.Sketch = c.bytes(c.uvarint())
	return r
}

func (c *cursor) standing(w snapshot.WriterID) *Standing {
	s := &Standing{Writer: w}
	s.Seq = c.uvarint()
	copy(s.Mark[:], c.bytes(uint64(len(s.Mark))))
	copy(s.Pending[:], c.bytes(uint64(len(s.Pending))))
	if b := c.bytes(1); b != nil {
		s.Dead, s.Gone = b[0]&flagDead != 0, b[0]&flagGone != 0
		if b[0] > flagDead|flagGone {
			c.fail("flags %#x", b[0])
		}
	}
	for len(c.rest) > 0 && c.err == nil {
		var f snapshot.WriterID
		copy(f[:], c.bytes(uint64(writerLen)))
		s.Folded = append(s.Folded, f)
	}
	return s
}
