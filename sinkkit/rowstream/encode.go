package rowstream

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/hotcount/hotcount/snapshot"
)

// Offsets and lengths of the encoding, see the package comment.
const (
	magic   = "hr"
	version = 2

	kindCounters = 'c'
	kindUniques  = 'u'
	kindBuckets  = 'b'
	kindStanding = 's'

	writerLen = len(snapshot.WriterID{})
	headLen   = len(magic) + 2 + writerLen
	printLen  = 8
	sumLen    = 4

	flagDead = 1
	flagGone = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends a message with rows, which are of one writer and one kind.
func Append(dst []byte, rows ...Row) ([]byte, error) {
	if len(rows) == 0 {
		return dst, fmt.Errorf("%w: no rows", ErrFormat)
	}
	start, kind, writer := len(dst), rows[0].kind(), rows[0].Writer
	dst = appendHead(dst, kind, writer)
	for i := range rows {
		r := &rows[i]
		if r.Key.IsZero() || r.Resolution < 0 || r.kind() != kind || r.Writer != writer {
			return dst[:start], fmt.Errorf("%w: row %d has no series, a negative resolution, or another kind or writer than the first", ErrFormat, i)
		}
		dst = r.appendBody(dst)
	}
	return appendSum(dst, start), nil
}

func (r *Row) appendBody(dst []byte) []byte {
	dst = r.appendSeries(dst)
	dst = binary.AppendVarint(dst, r.Created)
	dst = binary.AppendUvarint(dst, r.Seq)
	kind := r.kind()
	if kind == kindBuckets {
		dst = binary.AppendUvarint(dst, uint64(r.Resolution))
	}
	if kind != kindUniques {
		dst = binary.AppendVarint(dst, r.Value)
		return binary.AppendVarint(dst, r.Prior)
	}
	dst = append(dst, byte(r.Scheme.Hash))
	dst = binary.BigEndian.AppendUint64(dst, r.Scheme.SeedPrint)
	dst = binary.AppendUvarint(dst, uint64(len(r.Sketch)))
	return append(dst, r.Sketch...)
}

// appendSeries appends the series after its length. That is of one byte for most,
// for which room is made; for others the text moves.
func (r *Row) appendSeries(dst []byte) []byte {
	at := len(dst)
	dst = r.Key.AppendText(append(dst, 0))
	n := len(dst) - at - 1
	if n <= math.MaxInt8 {
		dst[at] = byte(n)
		return dst
	}
	text := string(dst[at+1:])
	return append(binary.AppendUvarint(dst[:at], uint64(n)), text...)
}

// AppendBinary appends a message with s.
func (s *Standing) AppendBinary(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = appendHead(dst, kindStanding, s.Writer)
	dst = binary.AppendUvarint(dst, s.Seq)
	dst = append(dst, s.Mark[:]...)
	dst = append(dst, s.Pending[:]...)
	var flags byte
	if s.Dead {
		flags |= flagDead
	}
	if s.Gone {
		flags |= flagGone
	}
	dst = append(dst, flags)
	for _, w := range s.Folded {
		dst = append(dst, w[:]...)
	}
	return appendSum(dst, start), nil
}

func appendHead(dst []byte, kind byte, w snapshot.WriterID) []byte {
	dst = append(dst, magic...)
	dst = append(dst, version, kind)
	return append(dst, w[:]...)
}

func appendSum(dst []byte, start int) []byte {
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}
