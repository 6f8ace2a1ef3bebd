package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"
)

// WriteTo writes s to w in the binary format that ReadFrom reads, one frame of
// about 64 KiB a Write, and returns the number of bytes written. It holds one
// frame in memory, never a copy of s. It fails with w's error, or when a row
// has no key or is too large for a frame (256 MiB).
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	e := newEncoder(w)
	e.writeHeader()
	e.writeMeta(s)
	writeSection(e, kindCounters, s.Counters, (*encoder).putCounter)
	writeSection(e, kindUniques, s.Uniques, (*encoder).putUniques)
	writeSection(e, kindWindows, s.Windows, (*encoder).putWindow)
	writeSection(e, kindGauges, s.Gauges, (*encoder).putGauge)
	writeSection(e, kindFinal, s.Final, (*encoder).putCounter)
	writeSection(e, kindRetired, s.Retired, (*encoder).putCounter)
	writeSection(e, kindFolded, s.Folded, (*encoder).putFold)
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

	byDesc map[*Desc]uint64  // index of each Desc met
	byText map[string]uint64 // index of each family, by its encoding
	last   *Desc             // the Desc of the last row, and
	lastAt uint64            // its index
}

func newEncoder(w io.Writer) *encoder {
	e := &encoder{w: w, table: crcTable(), byDesc: map[*Desc]uint64{}, byText: map[string]uint64{}}
	e.families.reset()
	e.rows.reset()
	return e
}

// A frame under construction: room for its header, then the payload.
type frame struct {
	buf   []byte
	count uint32
}

func (f *frame) reset() {
	f.buf, f.count = append(f.buf[:0], make([]byte, frameHeaderSize)...), 0
}

// room reports an error if n more bytes, and the row's numbers, do not fit.
func (f *frame) room(n int) error {
	const numbers = 5 * binary.MaxVarintLen64
	if n > maxFrameSize-numbers-len(f.buf) {
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

func writeSection[R any](e *encoder, kind byte, rows []R, put func(*encoder, *R) error) {
	for i := range rows {
		if e.err != nil {
			return
		}
		if err := put(e, &rows[i]); err != nil {
			e.err = err
			return
		}
		e.rows.count++
		if len(e.rows.buf) >= frameSize {
			e.writeRows(kind)
		}
	}
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

func (e *encoder) putCounter(c *Counter) error {
	if err := e.putKey(c.Key); err != nil {
		return err
	}
	e.putCreated(c.Created)
	e.rows.buf = binary.AppendVarint(e.rows.buf, c.Value)
	return nil
}

func (e *encoder) putUniques(u *Uniques) error {
	if err := e.putKey(u.Key); err != nil {
		return err
	}
	if err := e.rows.room(len(u.Sketch)); err != nil {
		return err
	}
	e.putCreated(u.Created)
	e.rows.buf = append(e.rows.buf, byte(u.Scheme.Hash))
	e.rows.buf = binary.LittleEndian.AppendUint64(e.rows.buf, u.Scheme.SeedPrint)
	e.rows.buf = binary.AppendUvarint(e.rows.buf, uint64(len(u.Sketch)))
	e.rows.buf = append(e.rows.buf, u.Sketch...)
	return nil
}

func (e *encoder) putWindow(w *Window) error {
	if err := e.putKey(w.Key); err != nil {
		return err
	}
	const numbers = 4 * binary.MaxVarintLen64
	if err := e.rows.room(len(w.Rows) * numbers); err != nil {
		return err
	}
	e.rows.buf = binary.AppendUvarint(e.rows.buf, uint64(len(w.Rows)))
	var start int64
	for _, r := range w.Rows {
		e.rows.buf = binary.AppendUvarint(e.rows.buf, uint64(r.Resolution))
		e.rows.buf = binary.AppendVarint(e.rows.buf, r.Start-start)
		e.rows.buf = binary.AppendUvarint(e.rows.buf, uint64(r.Width))
		e.rows.buf = binary.AppendVarint(e.rows.buf, r.Count)
		start = r.Start
	}
	return nil
}

func (e *encoder) putGauge(g *Gauge) error {
	if err := e.putKey(g.Key); err != nil {
		return err
	}
	e.rows.buf = binary.LittleEndian.AppendUint64(e.rows.buf, math.Float64bits(g.Value))
	return nil
}

func (e *encoder) putFold(f *Fold) error {
	e.rows.buf = append(e.rows.buf, f.Writer[:]...)
	e.rows.buf = binary.AppendUvarint(e.rows.buf, f.Seq)
	return nil
}

func (e *encoder) putCreated(t int64) {
	e.rows.buf = binary.AppendVarint(e.rows.buf, t-e.created)
	e.created = t
}

func (e *encoder) putKey(k Key) error {
	d := k.desc
	if d == nil {
		return errors.New("hotcount/snapshot: row without a key")
	}
	if d != e.last {
		i, err := e.family(d)
		if err != nil {
			return err
		}
		e.last, e.lastAt = d, i
	}
	if err := e.rows.room(len(k.packed)); err != nil {
		return err
	}
	e.rows.buf = binary.AppendUvarint(e.rows.buf, e.lastAt)
	e.rows.buf = append(e.rows.buf, k.packed...)
	return nil
}

// family returns d's index, and describes d in the pending families if its like
// has not been met.
func (e *encoder) family(d *Desc) (uint64, error) {
	if i, ok := e.byDesc[d]; ok {
		return i, nil
	}
	text := appendDesc(nil, d)
	i, ok := e.byText[string(text)]
	if !ok {
		if err := e.families.room(len(text)); err != nil {
			return 0, err
		}
		i = uint64(len(e.byText))
		e.byText[string(text)] = i
		e.families.buf = append(e.families.buf, text...)
		e.families.count++
	}
	e.byDesc[d] = i
	return i, nil
}

func appendDesc(b []byte, d *Desc) []byte {
	b = AppendValue(b, d.name)
	b = binary.AppendUvarint(b, uint64(len(d.labels)))
	for _, l := range d.labels {
		b = AppendValue(b, l)
	}
	return b
}
