package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"iter"
	"slices"
)

const (
	// BatchSize is the usual size of a Batch in bytes. At about 200 bytes a
	// line it makes handing over a batch cost under a nanosecond a line,
	// and a core's second-level cache still holds it.
	BatchSize = 64 << 10

	// MaxLine is how much of a line is kept, in bytes. What is beyond it is
	// skipped; the line still counts as one. The fields that are read come
	// first and servers limit requests to about 8 KiB, so only a line that
	// no server wrote loses anything.
	MaxLine = 1 << 20

	// peekSize is the buffer that looks at the first bytes. Reads of more go
	// past it, straight into a batch.
	peekSize = 16 << 10
)

// A Batch is a run of whole lines.
type Batch struct {
	First int64  // number of the first line, from 1
	Data  []byte // the lines, each with its ending except perhaps the last
}

// Lines yields the lines with their numbers, without "\n" or "\r\n".
func (b Batch) Lines() iter.Seq2[int64, []byte] {
	return func(yield func(number int64, line []byte) bool) {
		number := b.First
		for rest := b.Data; len(rest) > 0; number++ {
			line := rest
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				line, rest = rest[:end], rest[end+1:]
			} else {
				rest = nil
			}
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			if !yield(number, line) {
				return
			}
		}
	}
}

// A Reader cuts a stream into batches. It is for one goroutine; the batches may
// go anywhere.
type Reader struct {
	src         io.Reader
	rest        []byte // read, but not yet in a batch
	next        int64  // number of the line that rest begins
	err         error  // what ended src
	batch, line int    // BatchSize and MaxLine, smaller in tests
}

// NewReader returns a Reader of src. If src begins as gzip does it is
// decompressed, all its members in turn.
func NewReader(src io.Reader) *Reader { return newReader(src, BatchSize, MaxLine) }

func newReader(src io.Reader, batch, line int) *Reader {
	r := &Reader{next: 1, batch: batch, line: line}
	buffered := bufio.NewReaderSize(src, peekSize)
	r.src = buffered
	// Magic number and the one method there is: RFC 1952, section 2.3.1.
	if magic, _ := buffered.Peek(3); string(magic) == "\x1f\x8b\x08" {
		if z, err := gzip.NewReader(buffered); err != nil {
			r.err = err
		} else {
			r.src = z
		}
	}
	return r
}

// ReadBatch returns the next batch of at least one line. It uses the memory of
// buf when that is large enough. When the stream has ended it returns what
// ended it: io.EOF, or an error after all that could be read before it.
func (r *Reader) ReadBatch(buf []byte) (Batch, error) {
	data := append(slices.Grow(buf[:0], r.batch), r.rest...)
	data = data[:len(data):min(cap(data), r.line)]
	r.rest = r.rest[:0]
	for r.err == nil {
		data, r.err = fill(data, r.src)
		if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 {
			r.rest = append(r.rest, data[end:]...)
			return r.number(data[:end]), nil
		}
		if len(data) == r.line {
			r.skipLine()
			return r.number(data), nil
		}
		data = slices.Grow(data, len(data)+1)
		data = data[:len(data):min(cap(data), r.line)]
	}
	if len(data) == 0 {
		return Batch{}, r.err
	}
	return r.number(data), nil
}

func (r *Reader) number(data []byte) Batch {
	b := Batch{First: r.next, Data: data}
	r.next += int64(bytes.Count(data, []byte{'\n'}))
	if data[len(data)-1] != '\n' {
		r.next++
	}
	return b
}

// skipLine drops what is left of a line and keeps in rest what was read
// beyond it.
func (r *Reader) skipLine() {
	buf := slices.Grow(r.rest, r.batch)[:r.batch]
	for r.err == nil {
		var n int
		n, r.err = r.src.Read(buf)
		if end := bytes.IndexByte(buf[:n], '\n') + 1; end > 0 {
			r.rest = buf[:copy(buf, buf[end:n])]
			return
		}
	}
}

// fill reads from src until buf's capacity is used.
func fill(buf []byte, src io.Reader) ([]byte, error) {
	for len(buf) < cap(buf) {
		n, err := src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}
