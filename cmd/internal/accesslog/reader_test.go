package accesslog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readAll reads r to its end and returns its lines, after checking that they
// are numbered from 1 without a gap.
func readAll(t *testing.T, r *Reader) (lines []string, err error) {
	t.Helper()
	var buf []byte
	for {
		b, err := r.ReadBatch(buf)
		if err != nil {
			_, again := r.ReadBatch(nil)
			assert.Equal(t, err, again, "the end stays the end")
			return lines, err
		}
		n := len(lines)
		for number, line := range b.Lines() {
			if number != int64(len(lines)+1) {
				t.Fatalf("line %d has number %d", len(lines)+1, number)
			}
			lines = append(lines, string(line))
		}
		require.Greater(t, len(lines), n, "a batch holds a line")
		buf = b.Data
	}
}

// splitLines is the oracle: the lines of s, none longer than limit.
func splitLines(s string, limit int) (lines []string) {
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		line = line[:min(len(line), limit)]
		lines = append(lines, strings.TrimSuffix(line, "\r"))
	}
	return lines
}

func zip(t testing.TB, members ...string) string {
	var out strings.Builder
	for _, m := range members {
		z := gzip.NewWriter(&out)
		_, err := io.WriteString(z, m)
		require.NoError(t, err)
		require.NoError(t, z.Close())
	}
	return out.String()
}

func FuzzReader(f *testing.F) {
	f.Add("a\nb\r\n\n\nlast", uint8(4), uint8(8))
	f.Add(strings.Repeat("x", 100)+"\ny\n"+strings.Repeat("z", 33), uint8(1), uint8(32))
	f.Add(strings.Repeat("line\n", 50), uint8(7), uint8(7))
	f.Add(zip(f, "a\nb", "c\nd"), uint8(3), uint8(9))
	f.Add("\x1f\x8b\x08 not gzip", uint8(3), uint8(9))
	f.Fuzz(func(t *testing.T, text string, batch, limit uint8) {
		size := int(batch) + 1
		limitN := max(size, int(limit))
		for _, src := range []io.Reader{
			strings.NewReader(text),
			iotest.OneByteReader(strings.NewReader(text)),
			iotest.DataErrReader(iotest.HalfReader(strings.NewReader(text))),
		} {
			lines, err := readAll(t, newReader(src, size, limitN))
			if strings.HasPrefix(text, "\x1f\x8b\x08") {
				continue // TestReaderGzip knows what should come out
			}
			require.Equal(t, io.EOF, err)
			require.Equal(t, splitLines(text, limitN), lines)
		}
	})
}

func TestReaderGzip(t *testing.T) {
	packed := zip(t, "one\ntw", "o\n", "", "three")
	lines, err := readAll(t, NewReader(strings.NewReader(packed)))
	require.Equal(t, io.EOF, err)
	assert.Equal(t, []string{"one", "two", "three"}, lines)
}

// A gzip file cut anywhere ends in an error, never in a quiet io.EOF, and its
// whole lines up to there are a prefix of the truth.
func TestReaderGzipCut(t *testing.T) {
	text := strings.Repeat(common+"\n", 200)
	packed := zip(t, text)
	for end := len("\x1f\x8b\x08"); end < len(packed); end++ {
		lines, err := readAll(t, NewReader(strings.NewReader(packed[:end])))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", end)
		require.True(t, strings.HasPrefix(text, strings.Join(lines, "\n")), "%d bytes", end)
	}
	_, err := readAll(t, NewReader(strings.NewReader(packed+"trailing garbage")))
	require.ErrorIs(t, err, gzip.ErrHeader)
}

func TestReaderError(t *testing.T) {
	broken := errors.New("broken")
	src := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))
	lines, err := readAll(t, NewReader(src))
	assert.Equal(t, broken, err)
	assert.Equal(t, []string{"a", "b"}, lines)
}

// A line of any length costs no more memory than a few MaxLine.
func TestReaderLongLine(t *testing.T) {
	const size = 16 * MaxLine
	long := io.LimitReader(endless{}, size)
	src := io.MultiReader(strings.NewReader("first\n"), long, strings.NewReader("\nlast"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines, err := readAll(t, NewReader(src))
	runtime.ReadMemStats(&after)
	require.Equal(t, io.EOF, err)
	require.Len(t, lines, 3)
	assert.Equal(t, []string{"first", strings.Repeat("x", MaxLine), "last"}, lines)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/2))
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// The reader and the parser agree with their oracles on a real log.
func TestRealLog(t *testing.T) {
	packed, err := os.ReadFile("../replay/testdata/access.log.gz")
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)

	lines, err := readAll(t, NewReader(bytes.NewReader(packed)))
	require.Equal(t, io.EOF, err)
	require.Equal(t, splitLines(string(text), MaxLine), lines)
	require.Len(t, lines, 10_000)
	for _, line := range lines {
		want, err := oracle([]byte(line))
		require.NoError(t, err, line)
		var got Record
		if err := got.Parse([]byte(line)); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nreads as %v, %v, not as %v", line, got, err, want)
		}
	}
}
