package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"time"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
)

// ReadFrom reads one snapshot, written by WriteTo, into s, reusing the memory
// of its row slices, and returns the number of bytes read. It reads r to its
// end: bytes after the snapshot are an error, as is a snapshot that is cut
// short or changed in any byte.
//
// The error wraps ErrCorrupt or ErrVersion when the fault lies in the bytes;
// any other error is r's. After an error s is empty.
//
// ReadFrom may be fed by a stranger: it does not panic, and what it allocates
// is bounded by the bytes that have arrived, times about 40 in the worst case.
// Keys of counters share memory with their neighbours, about 64 KiB each.
func (s *Snapshot) ReadFrom(r io.Reader) (int64, error) {
	s.Reset()
	d := &decoder{r: bufio.NewReader(r), table: crcTable(), s: s}
	if err := d.read(); err != nil {
		s.Reset()
		return d.offset, err
	}
	return d.offset, nil
}

type decoder struct {
	r      *bufio.Reader
	offset int64
	table  *crc32.Table
	crc    uint32 // of all bytes so far but crc fields

	buf      []byte // the frame at hand
	families []series.Desc
	s        *Snapshot
}

func (d *decoder) read() error {
	if err := d.readHeader(); err != nil {
		return err
	}
	for first := true; ; first = false {
		start := d.offset
		kind, count, err := d.readFrame()
		if err != nil {
			return err
		}
		if (kind == kindMeta) != first {
			return corrupt(start, "the meta frame is not the first and only")
		}
		if kind == kindEnd {
			return d.checkEnd(start)
		}
		if why := d.decodeFrame(kind, count); why != "" {
			return corrupt(start, why)
		}
	}
}

func corrupt(offset int64, why string) error {
	return fmt.Errorf("%w: %s in the frame at byte %d", ErrCorrupt, why, offset)
}

func (d *decoder) readHeader() error {
	b, err := d.fill(headerSize)
	if err != nil {
		return err
	}
	if string(b[:len(magic)]) != magic {
		return fmt.Errorf("%w: it does not start as one", ErrCorrupt)
	}
	fields, crc := b[:headerSize-crcSize], binary.LittleEndian.Uint32(b[headerSize-crcSize:])
	if d.crc = crc32.Checksum(fields, d.table); d.crc != crc {
		return fmt.Errorf("%w: wrong checksum of the header", ErrCorrupt)
	}
	major := binary.LittleEndian.Uint16(b[len(magic):])
	if major > majorVersion {
		return fmt.Errorf("%w: it has version %d, this program reads up to %d: use the program that wrote it or a newer one", ErrVersion, major, majorVersion)
	}
	if major == 0 {
		return fmt.Errorf("%w: version 0", ErrCorrupt)
	}
	return nil
}

// readFrame reads a frame, checks its crc and leaves its payload in d.buf.
func (d *decoder) readFrame() (kind byte, count uint32, err error) {
	start := d.offset
	b, err := d.fill(frameHeaderSize)
	if err != nil {
		return 0, 0, err
	}
	kind = b[0]
	count = binary.LittleEndian.Uint32(b[1:])
	length := binary.LittleEndian.Uint32(b[5:])
	if length > maxFrameSize {
		return 0, 0, corrupt(start, "too great a length")
	}
	d.crc = crc32.Update(d.crc, d.table, b)
	b, err = d.fill(int(length) + crcSize)
	if err != nil {
		return 0, 0, err
	}
	payload, crc := b[:length], binary.LittleEndian.Uint32(b[length:])
	if d.crc = crc32.Update(d.crc, d.table, payload); d.crc != crc {
		return 0, 0, corrupt(start, "wrong checksum")
	}
	if count > length { // no row is empty
		return 0, 0, corrupt(start, "too great a count")
	}
	d.buf = payload
	return kind, count, nil
}

// fill reads n bytes into d.buf. It reserves at most as much again as has
// arrived, so that a length alone cannot make it allocate.
func (d *decoder) fill(n int) ([]byte, error) {
	b := d.buf[:0]
	for len(b) < n {
		chunk := min(n-len(b), max(frameSize, len(b)))
		b = slices.Grow(b, chunk)[:len(b)+chunk]
		got, err := io.ReadFull(d.r, b[len(b)-chunk:])
		d.offset += int64(got)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("%w: it is cut short at byte %d", ErrCorrupt, d.offset)
		}
		if err != nil {
			return nil, fmt.Errorf("hotcount/snapshot: reading at byte %d: %w", d.offset, err)
		}
	}
	d.buf = b
	return b, nil
}

func (d *decoder) checkEnd(start int64) error {
	if len(d.buf) != endSize || binary.LittleEndian.Uint64(d.buf) != uint64(d.offset) {
		return corrupt(start, "wrong length of the file")
	}
	switch _, err := d.r.ReadByte(); {
	case err == nil:
		return fmt.Errorf("%w: bytes follow its end at byte %d", ErrCorrupt, d.offset)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return fmt.Errorf("hotcount/snapshot: reading at byte %d: %w", d.offset, err)
	}
}

// decodeFrame decodes the payload in d.buf and says what is wrong with it.
func (d *decoder) decodeFrame(kind byte, count uint32) (why string) {
	n := int(count)
	switch kind {
	case kindMeta:
		return d.decodeMeta()
	case kindFamilies:
		return decodeRows(d, &d.families, n, leastFamily, takeDesc)
	case kindCounters:
		return decodeRows(d, &d.s.Counters, n, leastCounter, takeCounter)
	case kindUniques:
		return decodeRows(d, &d.s.Uniques, n, leastUniques, takeUniques)
	case kindGauges:
		return decodeRows(d, &d.s.Gauges, n, leastGauge, takeGauge)
	case kindFinal:
		return decodeRows(d, &d.s.Final, n, leastCounter, takeCounter)
	case kindRetired:
		return decodeRows(d, &d.s.Retired, n, leastCounter, takeCounter)
	case kindWindows:
		return decodeRows(d, &d.s.Windows, n, leastWindow, takeWindow)
	case kindUniquesWindows:
		return decodeRows(d, &d.s.UniquesWindows, n, leastWindow, takeUniquesWindow)
	case kindFolded:
		return decodeRows(d, &d.s.Folded, n, leastFold, takeFold)
	}
	d.s.Skipped++ // a kind of a newer minor version
	return ""
}

func (d *decoder) decodeMeta() (why string) {
	b := d.buf
	if len(b) < metaSize {
		return "too short a payload"
	}
	n := copy(d.s.Writer[:], b)
	d.s.Seq = binary.LittleEndian.Uint64(b[n:])
	d.s.Started = readTime(b[n+8:])
	d.s.Taken = readTime(b[n+8+timeSize:])
	return ""
}

func readTime(b []byte) time.Time {
	sec, nsec := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
	return time.Unix(int64(sec), int64(nsec)).UTC()
}

// The least bytes that a row of each kind takes, which bounds what a count alone
// can make the decoder reserve.
const (
	leastFamily  = 1 + 1 + 1 // a name of one byte, a number
	leastCounter = 1 + 1 + 1 // three numbers
	leastUniques = 1 + 1 + (1 + 8) + 1
	leastGauge   = 1 + 8
	leastWindow  = 1 + 1 // a key and a number of rows
	leastFold    = len(WriterID{}) + 1
)

func decodeRows[R any](d *decoder, rows *[]R, count, least int, take func(*cursor) R) (why string) {
	if count > len(d.buf)/least {
		return "too great a count"
	}
	c := &cursor{payload: string(d.buf), families: d.families}
	all := *rows
	if cap(all)-len(all) < count {
		// By half: Grow alone goes by a quarter, and copying a million rows
		// that often costs more than decoding them.
		all = slices.Grow(all, max(count, len(all)/2))
	}
	for range count {
		row := take(c)
		if c.why != "" {
			return c.why
		}
		all = append(all, row)
	}
	if c.at < len(c.payload) {
		return "bytes after the last row"
	}
	*rows = all
	return ""
}

// A cursor takes values off a payload. Once something is wrong, why says what,
// and the values mean nothing.
//
// It moves an index and does not cut the payload, because storing a string
// costs a write barrier while the garbage collector runs, several times a row.
type cursor struct {
	payload  string
	at       int
	families []series.Desc
	created  int64
	why      string
}

func (c *cursor) fail(why string) {
	c.why, c.at = why, len(c.payload)
}

func takeDesc(c *cursor) series.Desc {
	name := c.value()
	n := c.uvarint()
	if n > series.MaxLabels {
		c.fail("too many labels")
		return series.Desc{}
	}
	labels := make([]string, n)
	for i := range labels {
		labels[i] = c.value()
	}
	if c.why != "" {
		return series.Desc{}
	}
	d, err := series.NewDesc(name, labels...)
	if err != nil {
		c.fail(err.Error())
	}
	return d
}

func takeCounter(c *cursor) CounterRow {
	return CounterRow{Key: c.key(), Created: c.createdAt(), Value: c.varint()}
}

// takeUniques copies what it takes: a few large sketches would otherwise be
// held twice.
func takeUniques(c *cursor) UniquesRow {
	u := UniquesRow{Key: c.key(), Created: c.createdAt(), Scheme: c.scheme(), Sketch: []byte(c.value())}
	u.Key = u.Key.Clone()
	return u
}

func takeGauge(c *cursor) GaugeRow {
	return GaugeRow{Key: c.key(), Value: math.Float64frombits(c.uint64())}
}

func takeFold(c *cursor) Fold {
	var f Fold
	copy(f.Writer[:], c.take(len(f.Writer), ""))
	f.Seq = c.uvarint()
	return f
}

func (c *cursor) key() series.Key {
	i := c.uvarint()
	if i >= uint64(len(c.families)) {
		c.fail("a family that is not described")
		return series.Key{}
	}
	k, rest, err := c.families[i].CutKey(c.payload[c.at:])
	if err != nil {
		c.fail(err.Error())
		return series.Key{}
	}
	c.at = len(c.payload) - len(rest)
	return k
}

func (c *cursor) createdAt() int64 {
	c.created += c.varint()
	return c.created
}

// take returns the next n bytes, or otherwise when there are fewer.
func (c *cursor) take(n int, otherwise string) string {
	if len(c.payload)-c.at < n {
		c.fail("a value cut short")
		return otherwise
	}
	c.at += n
	return c.payload[c.at-n : c.at]
}

func (c *cursor) uint64() uint64 {
	return binary.LittleEndian.Uint64([]byte(c.take(8, "00000000")))
}

func (c *cursor) scheme() hll.Scheme {
	hash := c.take(1, "\x00")[0]
	return hll.Scheme{Hash: hll.Hash(hash), SeedPrint: c.uint64()}
}

// length takes a number of things that take at least so many bytes each.
func (c *cursor) length(least int) int {
	n := c.uvarint()
	if n > uint64((len(c.payload)-c.at)/least) {
		c.fail("too great a number of rows")
		return 0
	}
	return int(n)
}

func (c *cursor) value() string {
	v, rest, ok := series.CutValue(c.payload[c.at:])
	if !ok {
		c.fail("a value cut short")
		return ""
	}
	c.at = len(c.payload) - len(rest)
	return v
}

func (c *cursor) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (c *cursor) uvarint() uint64 {
	var u uint64
	rest := c.payload[c.at:]
	for i := 0; i < len(rest) && i < binary.MaxVarintLen64; i++ {
		b := rest[i]
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.at += i + 1
			return u
		}
	}
	c.fail("a number cut short")
	return 0
}
