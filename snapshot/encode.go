package snapshot

import (
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

// WriteTo writes s to w in the binary format that ReadFrom reads, one frame of
// about 64 KiB a Write, and returns the number of bytes written. It holds one
// frame in memory, never a copy of s. It fails with w's error, or when a row
// has no key or is too large for a frame (256 MiB).
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	e := newEncoder(w, s.rows())
	e.writeHeader()
	e.writeMeta(s)
	writeSection(e, kindCounters, s.Counters, (*encoder).addCounter)
	writeSection(e, kindUniques, s.Uniques, (*encoder).addUniques)
	writeSection(e, kindWindows, s.Windows, (*encoder).addWindow)
	writeSection(e, kindUniquesWindows, s.UniquesWindows, (*encoder).addUniquesWindow)
	writeSection(e, kindGauges, s.Gauges, (*encoder).addGauge)
	writeSection(e, kindFinal, s.Final, (*encoder).addCounter)
	writeSection(e, kindRetired, s.Retired, (*encoder).addCounter)
	writeSection(e, kindFolded, s.Folded, (*encoder).addFold)
	e.writeEnd()
	return e.written, e.err
}

// An encoder writes frames. Its first error sticks and ends all writing.
type encoder struct {
	w       io.Writer
	written int64
	err     error
	table   *crc32.Table
	crc     uint32 // of all bytes so far but crc fields

	families frame // families not yet written
	rows     frame // the section's rows not yet written
	created  int64 // of the last row in rows

	indexes map[series.Desc]uint64 // of the families met
	last    series.Desc            // the family of the last row, and
	lastAt  uint64                 // its index
}

// newEncoder reserves the frame that so many rows of counters will fill.
func newEncoder(w io.Writer, rows int) *encoder {
	const typicalRow = 32
	e := &encoder{w: w, table: crcTable(), indexes: map[series.Desc]uint64{}}
	e.rows.buf = make([]byte, 0, min(rows, frameSize/typicalRow)*typicalRow+metaSize+frameSize/8)
	e.rows.reset()
	e.families.reset()
	return e
}

func (s *Snapshot) rows() int {
	return len(s.Counters) + len(s.Uniques) + len(s.Windows) + len(s.UniquesWindows) + len(s.Gauges) + len(s.Final) + len(s.Retired) + len(s.Folded)
}

// A frame under construction: room for its header, then the payload.
type frame struct {
	buf   []byte
	count uint32
}

func (f *frame) reset() {
	f.buf, f.count = append(f.buf[:0], make([]byte, frameHeaderSize)...), 0
}

// room reports an error if n more bytes, and a row's numbers, do not fit behind
// b in a frame.
func room(b []byte, n int) error {
	const numbers = 5 * binary.MaxVarintLen64
	if n > maxFrameSize-numbers-len(b) {
		return fmt.Errorf("hotcount/snapshot: row of over %d bytes, at most %d fit", n, maxFrameSize)
	}
	return nil
}

func (e *encoder) writeHeader() {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint16(b, majorVersion)
	b = binary.LittleEndian.AppendUint16(b, minorVersion)
	e.crc = crc32.Checksum(b, e.table)
	e.write(binary.LittleEndian.AppendUint32(b, e.crc))
}

func (e *encoder) writeMeta(s *Snapshot) {
	f := &e.rows
	f.buf = append(f.buf, s.Writer[:]...)
	f.buf = binary.LittleEndian.AppendUint64(f.buf, s.Seq)
	f.buf = appendTime(f.buf, s.Started)
	f.buf = appendTime(f.buf, s.Taken)
	f.count = 1
	e.writeFrame(kindMeta, f)
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Unix()))
	return binary.LittleEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

// writeSection writes rows, each appended to the pending ones by add. The
// buffer is a local variable meanwhile: storing it in e for each row would cost
// a write barrier each while the garbage collector runs.
func writeSection[R any](e *encoder, kind byte, rows []R, add func(e *encoder, b []byte, row *R) ([]byte, error)) {
	b := e.rows.buf
	for i := range rows {
		var err error
		if b, err = add(e, b, &rows[i]); err != nil {
			e.err = err
		}
		if e.err != nil {
			return
		}
		e.rows.count++
		if len(b) >= frameSize {
			e.rows.buf = b
			e.writeRows(kind)
			b = e.rows.buf
		}
	}
	e.rows.buf = b
	e.writeRows(kind)
}

// writeRows writes the pending rows behind the families that they are the
// first to use.
func (e *encoder) writeRows(kind byte) {
	e.writeFrame(kindFamilies, &e.families)
	e.writeFrame(kind, &e.rows)
	e.created = 0
}

func (e *encoder) writeEnd() {
	total := uint64(e.written) + frameHeaderSize + endSize + crcSize
	e.rows.buf = binary.LittleEndian.AppendUint64(e.rows.buf, total)
	e.rows.count = 1
	e.writeFrame(kindEnd, &e.rows)
}

// writeFrame writes f, if it has rows, and empties it.
func (e *encoder) writeFrame(kind byte, f *frame) {
	if f.count == 0 {
		f.reset()
		return
	}
	length := len(f.buf) - frameHeaderSize
	f.buf[0] = kind
	binary.LittleEndian.PutUint32(f.buf[1:], f.count)
	binary.LittleEndian.PutUint32(f.buf[5:], uint32(length))
	e.crc = crc32.Update(e.crc, e.table, f.buf)
	e.write(binary.LittleEndian.AppendUint32(f.buf, e.crc))
	f.reset()
}

func (e *encoder) write(b []byte) {
	if e.err != nil {
		return
	}
	n, err := e.w.Write(b)
	e.written += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	e.err = err
}

func (e *encoder) addCounter(b []byte, c *CounterRow) ([]byte, error) {
	b, err := e.addKey(b, c.Key)
	b = e.addCreated(b, c.Created)
	return binary.AppendVarint(b, c.Value), err
}

func (e *encoder) addUniques(b []byte, u *UniquesRow) ([]byte, error) {
	b, err := e.addKey(b, u.Key)
	if err == nil {
		err = room(b, len(u.Sketch))
	}
	if err != nil {
		return b, err
	}
	b = e.addCreated(b, u.Created)
	b = addScheme(b, u.Scheme)
	b = binary.AppendUvarint(b, uint64(len(u.Sketch)))
	return append(b, u.Sketch...), nil
}

func addScheme(b []byte, s hll.Scheme) []byte {
	return binary.LittleEndian.AppendUint64(append(b, byte(s.Hash)), s.SeedPrint)
}

func (e *encoder) addGauge(b []byte, g *GaugeRow) ([]byte, error) {
	b, err := e.addKey(b, g.Key)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(g.Value)), err
}

func (e *encoder) addFold(b []byte, f *Fold) ([]byte, error) {
	b = append(b, f.Writer[:]...)
	return binary.AppendUvarint(b, f.Seq), nil
}

func (e *encoder) addCreated(b []byte, t int64) []byte {
	b = binary.AppendVarint(b, t-e.created)
	e.created = t
	return b
}

func (e *encoder) addKey(b []byte, k series.Key) ([]byte, error) {
	d, packed := k.Desc(), k.Packed()
	if d.IsZero() {
		return b, errors.New("hotcount/snapshot: row without a key")
	}
	if d != e.last {
		i, err := e.family(d)
		if err != nil {
			return b, err
		}
		e.last, e.lastAt = d, i
	}
	if err := room(b, len(packed)); err != nil {
		return b, err
	}
	b = binary.AppendUvarint(b, e.lastAt)
	return append(b, packed...), nil
}

// family returns d's index, and describes d in the pending families if it has not
// been met.
func (e *encoder) family(d series.Desc) (uint64, error) {
	if i, ok := e.indexes[d]; ok {
		return i, nil
	}
	text := appendDesc(nil, d)
	if err := room(e.families.buf, len(text)); err != nil {
		return 0, err
	}
	i := uint64(len(e.indexes))
	e.indexes[d] = i
	e.families.buf = append(e.families.buf, text...)
	e.families.count++
	return i, nil
}

func appendDesc(b []byte, d series.Desc) []byte {
	b = series.AppendValue(b, d.Name())
	labels := slices.Collect(d.Labels())
	b = binary.AppendUvarint(b, uint64(len(labels)))
	for _, l := range labels {
		b = series.AppendValue(b, l)
	}
	return b
}
