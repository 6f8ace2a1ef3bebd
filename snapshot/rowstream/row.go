package rowstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
)

// ErrFormat is wrapped by the errors about bytes that are not a row.
var ErrFormat = errors.New("hotcount/rowstream: malformed row")

// A Row is the count of one series since Created, by one writer, as it was in the
// writer's snapshot Seq. It is a counter, or a count of distinct elements if
// Sketch is not nil.
type Row struct {
	Key     snapshot.Key
	Writer  snapshot.WriterID
	Created int64 // Unix nanoseconds
	Seq     uint64

	Value int64 // of a counter

	Scheme hll.Scheme // of a sketch
	Sketch []byte     // as hll.Sketch.AppendBinary writes it
}

// Offsets and lengths of the encoding, see the package comment.
const (
	magic   = "hr"
	version = 1

	kindCounter = 'c'
	kindUniques = 'u'

	headLen   = len(magic) + 2 + len(snapshot.WriterID{}) + 8 + 8 + 4
	valueLen  = 8
	schemeLen = 1 + 8
	sumLen    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendBinary appends the encoding of r.
func (r *Row) AppendBinary(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, version, r.kind())
	dst = append(dst, r.Writer[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Created))
	dst = binary.BigEndian.AppendUint64(dst, r.Seq)
	dst = binary.BigEndian.AppendUint32(dst, 0) // the series' length, known below
	dst = r.Key.AppendText(dst)
	series := dst[start+headLen:]
	if len(series) == 0 || uint64(len(series)) > 1<<32-1 {
		return dst[:start], fmt.Errorf("%w: the series has %d bytes", ErrFormat, len(series))
	}
	binary.BigEndian.PutUint32(dst[start+headLen-4:], uint32(len(series)))
	if r.Sketch == nil {
		dst = binary.BigEndian.AppendUint64(dst, uint64(r.Value))
	} else {
		dst = append(dst, byte(r.Scheme.Hash))
		dst = binary.BigEndian.AppendUint64(dst, r.Scheme.SeedPrint)
		dst = append(dst, r.Sketch...)
	}
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli)), nil
}

func (r *Row) kind() byte {
	if r.Sketch == nil {
		return kindCounter
	}
	return kindUniques
}

// AppendID appends what all rows have in common that replace each other: kind,
// writer, Created and series, as text with spaces between. A compacted topic has
// it as the key.
func (r *Row) AppendID(dst []byte) []byte {
	dst = append(dst, r.kind(), ' ')
	dst = append(dst, r.Writer.String()...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, r.Created, 10)
	dst = append(dst, ' ')
	return r.Key.AppendText(dst)
}

// Decode returns the row that data encodes. Its Sketch is part of data. Errors
// wrap ErrFormat. Decode does not look into the sketch; Apply does.
func Decode(data []byte) (Row, error) {
	if len(data) < headLen+sumLen {
		return Row{}, fmt.Errorf("%w: %d bytes, at least %d are needed", ErrFormat, len(data), headLen+sumLen)
	}
	if string(data[:len(magic)]) != magic {
		return Row{}, fmt.Errorf("%w: it begins with %q, not %q", ErrFormat, data[:len(magic)], magic)
	}
	if v := data[len(magic)]; v != version {
		return Row{}, fmt.Errorf("%w: version %d, want %d", ErrFormat, v, version)
	}
	body, sum := data[:len(data)-sumLen], binary.BigEndian.Uint32(data[len(data)-sumLen:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return Row{}, fmt.Errorf("%w: checksum %08x, want %08x", ErrFormat, got, sum)
	}
	return decodeBody(body)
}

// decodeBody decodes what the checksum has been checked of.
func decodeBody(body []byte) (Row, error) {
	var r Row
	kind, rest := body[len(magic)+1], body[len(magic)+2:]
	rest = rest[copy(r.Writer[:], rest):]
	r.Created = int64(binary.BigEndian.Uint64(rest))
	r.Seq = binary.BigEndian.Uint64(rest[8:])
	n := binary.BigEndian.Uint32(rest[16:])
	rest = rest[20:]
	if uint64(n) > uint64(len(rest)) {
		return Row{}, fmt.Errorf("%w: a series of %d bytes in %d", ErrFormat, n, len(rest))
	}
	key, err := snapshot.ParseKey(string(rest[:n]))
	if err != nil {
		return Row{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	r.Key, rest = key, rest[n:]
	switch {
	case kind == kindCounter && len(rest) == valueLen:
		r.Value = int64(binary.BigEndian.Uint64(rest))
	case kind == kindUniques && len(rest) >= schemeLen:
		r.Scheme = hll.Scheme{Hash: hll.Hash(rest[0]), SeedPrint: binary.BigEndian.Uint64(rest[1:])}
		r.Sketch = rest[schemeLen:]
	default:
		return Row{}, fmt.Errorf("%w: kind %q with %d bytes", ErrFormat, kind, len(rest))
	}
	return r, nil
}
