package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

var update = flag.Bool("update", false, "write the golden file of the current format version")

func desc(t testing.TB, name string, labels ...string) series.Desc {
	t.Helper()
	d, err := series.NewDesc(name, labels...)
	require.NoError(t, err)
	return d
}

// sample has rows of every kind, of several families, interleaved.
func sample(t testing.TB) *Snapshot {
	plain := desc(t, "hits_total")
	labelled := desc(t, "http_requests_total", "method", "code")
	twin := desc(t, "http_requests_total", "method", "code")
	return &Snapshot{
		Writer:  WriterID{0x01, 0x8f, 15: 0xff},
		Seq:     42,
		Started: time.Unix(1_700_000_000, 1).UTC(),
		Taken:   time.Unix(1_700_000_100, 999_999_999).UTC(),
		Counters: []CounterRow{
			{plain.Key(), 1_700_000_000_000_000_000, 7},
			{labelled.Key("GET", "200"), 1_700_000_000_000_000_001, math.MaxInt64},
			{plain.Key(), 0, 0},
			{twin.Key("", "\x00\xff"), math.MinInt64, math.MinInt64},
		},
		Uniques: []UniquesRow{
			{labelled.Key("GET", "200"), 5, hll.Scheme{}, []byte("sketch")},
			{plain.Key(), 6, hll.Scheme{Hash: hll.Redis, SeedPrint: math.MaxUint64}, []byte{}},
		},
		Windows: []WindowRows{
			{labelled.Key("GET", "200"), []window.Row{
				{Resolution: time.Second, Start: 1_700_000_000_000_000_000, Width: time.Second, Count: 3},
				{Resolution: time.Minute, Start: math.MinInt64, Width: math.MaxInt64, Count: math.MinInt64},
			}},
			{plain.Key(), []window.Row{}},
		},
		UniquesWindows: []UniquesWindowRows{
			{labelled.Key("GET", "200"), []window.SketchRow{
				{Start: 1_700_000_000_000_000_000, Width: time.Minute, Scheme: hll.Scheme{SeedPrint: 7}, Sketch: []byte("sketch")},
				{Start: math.MinInt64, Width: math.MaxInt64, Sketch: []byte{}},
			}},
			{plain.Key(), []window.SketchRow{}},
		},
		Gauges:  []GaugeRow{{plain.Key(), math.Inf(-1)}, {plain.Key(), 0.25}},
		Final:   []CounterRow{{labelled.Key("PUT", "500"), 3, -1}},
		Retired: []CounterRow{{labelled.Key("PUT", "500"), 2, 1}},
		Folded:  []Fold{{WriterID{1}, 1}, {WriterID{2}, math.MaxUint64}},
	}
}

func encode(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := s.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

func decode(b []byte) (*Snapshot, error) {
	s := new(Snapshot)
	_, err := s.ReadFrom(bytes.NewReader(b))
	return s, err
}

func TestRoundTrip(t *testing.T) {
	long := sample(t)
	wide := desc(t, "wide_total", "a")
	for i := range 30_000 { // many frames, and a row larger than one
		long.Counters = append(long.Counters, CounterRow{wide.Key(string(rune(i))), int64(i), int64(-i)})
		long.Final = append(long.Final, CounterRow{desc(t, "f"+string(rune('a'+i%26))).Key(), 0, 1})
	}
	long.Counters = append(long.Counters, CounterRow{wide.Key(string(make([]byte, 5*frameSize))), 1, 2})
	for name, want := range map[string]*Snapshot{"zero": {}, "sample": sample(t), "long": long} {
		t.Run(name, func(t *testing.T) {
			data := encode(t, want)
			got := sample(t) // what is in it must go
			n, err := got.ReadFrom(iotest.OneByteReader(bytes.NewReader(data)))
			require.NoError(t, err)
			require.EqualValues(t, len(data), n)
			require.Equal(t, data, encode(t, got), "the same bytes again")
			require.Equal(t, want.Writer, got.Writer)
			require.Equal(t, want.Seq, got.Seq)
			require.True(t, want.Started.Equal(got.Started))
			require.True(t, want.Taken.Equal(got.Taken))
			require.Equal(t, len(want.Counters), len(got.Counters))
			for i, c := range want.Counters {
				require.Equal(t, c.Key, got.Counters[i].Key)
				require.Equal(t, c.Value, got.Counters[i].Value)
				require.Equal(t, c.Created, got.Counters[i].Created)
			}
		})
	}
	got, err := decode(encode(t, sample(t)))
	require.NoError(t, err)
	require.Equal(t, sample(t), got)
}

// TestGolden reads the snapshot as each version of the format wrote it.
func TestGolden(t *testing.T) {
	current := filepath.Join("testdata", "v1.0.hcs")
	if *update {
		require.NoError(t, os.WriteFile(current, encode(t, sample(t)), 0o644))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "v*.hcs"))
	require.NoError(t, err)
	require.Contains(t, files, current)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		got, err := decode(data)
		require.NoError(t, err, name)
		require.Equal(t, sample(t), got, name)
	}
	data, err := os.ReadFile(current)
	require.NoError(t, err)
	require.Equal(t, data, encode(t, sample(t)), "the current version writes other bytes than it did")
}

func TestEveryPrefixIsRefused(t *testing.T) {
	data := encode(t, sample(t))
	for n := range data {
		s, err := decode(data[:n])
		require.ErrorIs(t, err, ErrCorrupt, "length %d", n)
		require.Empty(t, s.Counters)
		require.Zero(t, s.Seq)
	}
	_, err := decode(append(data, 0))
	require.ErrorIs(t, err, ErrCorrupt)
}

func TestEveryFlipIsRefused(t *testing.T) {
	data := encode(t, sample(t))
	for i := range data {
		for flip := 1; flip < 256; flip++ {
			data[i] ^= byte(flip)
			if _, err := decode(data); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d, flip %02x: %v", i, flip, err)
			}
			data[i] ^= byte(flip)
		}
	}
}

// header returns a header of the given version.
func header(major, minor uint16) []byte {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint16(b, major)
	b = binary.LittleEndian.AppendUint16(b, minor)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crcTable()))
}

func TestVersions(t *testing.T) {
	body := encode(t, &Snapshot{Seq: 9})[headerSize:]

	_, err := decode(append(header(majorVersion+1, 0), body...))
	require.ErrorIs(t, err, ErrVersion)
	require.NotErrorIs(t, err, ErrCorrupt)

	_, err = decode(append(header(0, 1), body...))
	require.ErrorIs(t, err, ErrCorrupt)
}

// frames builds a snapshot out of frames, with right lengths and checksums.
func frames(minor uint16, payloads ...func(e *encoder)) []byte {
	var b bytes.Buffer
	e := newEncoder(&b, 0)
	h := header(majorVersion, minor)
	e.crc = crc32.Checksum(h[:headerSize-crcSize], e.table)
	e.write(h)
	for _, p := range payloads {
		p(e)
	}
	e.writeEnd()
	return b.Bytes()
}

func rawFrame(kind byte, count uint32, payload string) func(e *encoder) {
	return func(e *encoder) {
		e.rows.buf = append(e.rows.buf, payload...)
		e.rows.count = count
		e.writeFrame(kind, &e.rows)
	}
}

func meta(e *encoder) { e.writeMeta(&Snapshot{Seq: 9}) }

func TestNewerMinorVersionIsReadPastWhatItAdds(t *testing.T) {
	longMeta := rawFrame(kindMeta, 1, string(make([]byte, metaSize))+"more")
	s, err := decode(frames(7, longMeta, rawFrame(200, 3, "who knows"), rawFrame(201, 1, "!")))
	require.NoError(t, err)
	require.Equal(t, 2, s.Skipped)
}

// TestMalformedRows has right checksums: what a stranger, not a disk, would send.
func TestMalformedRows(t *testing.T) {
	for name, data := range map[string][]byte{
		"no meta":           frames(0),
		"rows before meta":  frames(0, rawFrame(kindFolded, 1, string(make([]byte, 17)))),
		"second meta":       frames(0, meta, meta),
		"short meta":        frames(0, rawFrame(kindMeta, 1, "short")),
		"unknown family":    frames(0, meta, rawFrame(kindCounters, 1, "\x00\x00\x00")),
		"count too small":   frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x00\x01b\x00")),
		"count too great":   frames(0, meta, rawFrame(kindFamilies, 2, "\x01a\x00")),
		"count absurd":      frames(0, meta, rawFrame(kindFamilies, math.MaxUint32, "\x01a\x00")),
		"bad name":          frames(0, meta, rawFrame(kindFamilies, 1, "\x010\x00")),
		"label twice":       frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x02\x01b\x01b")),
		"too many labels":   frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\xff\xff\xff\xff\x7f")),
		"value cut short":   frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x01\x01l"), rawFrame(kindCounters, 1, "\x00\x05abc")),
		"number cut short":  frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x00"), rawFrame(kindCounters, 1, "\x00\x00\x80")),
		"number too long":   frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x00"), rawFrame(kindCounters, 1, "\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
		"gauge cut short":   frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x00"), rawFrame(kindGauges, 1, "\x001234567")),
		"sketch cut short":  frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x00"), rawFrame(kindUniques, 1, "\x00\x00\x00\x7fabc")),
		"fold cut short":    frames(0, meta, rawFrame(kindFolded, 1, "123456789012345")),
		"end in the middle": frames(0, meta, (*encoder).writeEnd),
	} {
		_, err := decode(data)
		assert.ErrorIs(t, err, ErrCorrupt, name)
	}
}

func TestReaderErrorIsNoDamage(t *testing.T) {
	data := encode(t, sample(t))
	broken := errors.New("disk on fire")
	for n := range data {
		var s Snapshot
		_, err := s.ReadFrom(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, ErrCorrupt)
	}
}

type shortWriter struct{ left int }

func (w *shortWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.left)
	w.left -= n
	return n, nil
}

func TestWriterErrorsAreReported(t *testing.T) {
	data := encode(t, sample(t))
	for n := range data {
		written, err := sample(t).WriteTo(&shortWriter{n})
		require.ErrorIs(t, err, io.ErrShortWrite)
		require.EqualValues(t, n, written)
	}
}

func TestRowsThatCannotBeWritten(t *testing.T) {
	_, err := (&Snapshot{Counters: []CounterRow{{}}}).WriteTo(io.Discard)
	require.ErrorContains(t, err, "without a key")

	_, err = (&Snapshot{Uniques: []UniquesRow{{Key: desc(t, "a").Key(), Sketch: make([]byte, maxFrameSize)}}}).WriteTo(io.Discard)
	require.ErrorContains(t, err, "at most")
}

// TestAllocationIsBounded feeds the decoder what claims to be large and is not,
// and what expands the most.
func TestAllocationIsBounded(t *testing.T) {
	const slack = 300 << 10 // fixed buffers
	const size = 3 << 20
	zeros := func(kind byte, rows uint32) []byte {
		return frames(0, meta, rawFrame(kindFamilies, 1, "\x01a\x00"), rawFrame(kind, rows, string(make([]byte, size))))
	}
	hostile := map[string][]byte{
		"length without bytes":  append(header(1, 0), kindMeta, 1, 0, 0, 0, 0, 0, 0, 0x0f),
		"dense counters":        zeros(kindCounters, size/leastCounter),
		"dense uniques":         zeros(kindUniques, size/leastUniques),
		"dense windows":         zeros(kindWindows, size/leastWindow),
		"dense uniques windows": zeros(kindUniquesWindows, size/leastWindow),
		"dense families":        frames(0, meta, rawFrame(kindFamilies, 1<<18, string(bytes.Repeat([]byte("\x01a\x00"), 1<<18)))),
	}
	for kind := byte(kindFamilies); kind <= kindUniquesWindows; kind++ {
		hostile[fmt.Sprintf("count of kind %d without rows", kind)] = zeros(kind, size)
	}
	for name, data := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = decode(data) // an error or not, it must stay small
		runtime.ReadMemStats(&after)
		assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(raceFactor*allocFactor*len(data)+slack), name)
	}
}

// allocFactor is the documented bound of ReadFrom: a family of three bytes makes
// a Desc, its name and a pointer.
const allocFactor = 40

func FuzzReadFrom(f *testing.F) {
	f.Add(encode(f, sample(f)))
	f.Add(encode(f, &Snapshot{}))
	f.Add(frames(7, meta, rawFrame(200, 3, "who knows")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decode(data)
		if err != nil {
			require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, ErrVersion), err)
			return
		}
		again, err := decode(encode(t, s))
		require.NoError(t, err)
		again.Skipped = s.Skipped
		require.Equal(t, encode(t, s), encode(t, again))
	})
}

// FuzzFrames gives the row decoders payloads behind right checksums, which
// mutation of whole files would hardly ever hit.
func FuzzFrames(f *testing.F) {
	f.Add("\x01a\x00", byte(kindCounters), uint32(1), "\x00\x00\x00")
	f.Add("\x01a\x01\x01l", byte(kindUniques), uint32(1), "\x00\x01v\x00\x00\x02ab")
	f.Add("\x01a\x01\x01l", byte(kindGauges), uint32(1), "\x00\x01v12345678")
	f.Add("\x01a\x00", byte(kindFolded), uint32(1), "1234567890123456\x01")
	f.Add("\x01a\x00", byte(kindWindows), uint32(1), "\x00\x01\x02\x04\x02\x06")
	f.Add("\x01a\x00", byte(kindUniquesWindows), uint32(1), "\x00\x01\x04\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01s")
	f.Fuzz(func(t *testing.T, family string, kind byte, count uint32, payload string) {
		data := frames(0, meta, rawFrame(kindFamilies, 1, family), rawFrame(kind, count, payload))
		s, err := decode(data)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, err := decode(encode(t, s))
		require.NoError(t, err)
		require.Equal(t, encode(t, s), encode(t, again))
	})
}
