package replay

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/cmd/internal/accesslog"
)

const (
	realLog   = "testdata/access.log.gz"
	realLines = 10_000
)

func unzip(t testing.TB, name string) []byte {
	packed, err := os.ReadFile(name)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}

func file(name string) Source {
	return Source{Name: filepath.Base(name), Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

func stringSource(name, content string) Source {
	return Source{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func newEngine(t testing.TB, o hotcount.Options) *hotcount.Engine {
	e, err := hotcount.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	return e
}

// count replays sources and checks what must hold for any log: an exact count
// agrees, and each family adds up to the well-formed lines.
func count(t *testing.T, o hotcount.Options, workers int, sources ...Source) (*Report, error) {
	t.Helper()
	e := newEngine(t, o)
	exact := NewExact()
	malformed, err := Run(t.Context(), sources, workers, NewTally(e), exact)
	got := OfThisRun(e)
	require.Empty(t, Verify(got, exact.Counts()).Differences)
	for _, family := range []string{statusTotal, methodTotal, pathTotal, hourTotal} {
		sum := got.overflow[family]
		for _, n := range got.series[family] {
			sum += n
		}
		require.Equal(t, got.series[linesTotal][""]-got.series[malformedTotal][""], sum, family)
	}
	r := NewReport(e, 10)
	r.MalformedLines = malformed
	// Sketches of so few are nearly exact; package hll tests the rest.
	c := CheckClients(r, exact)
	require.InDelta(t, 0, c.Error, 0.5)
	require.InDelta(t, 0, c.WorstHour, 2)
	return r, err
}

// Every figure of a real log is as expected, with any number of workers.
func TestRealLog(t *testing.T) {
	text, err := os.ReadFile("testdata/access.expected.json")
	require.NoError(t, err)
	var want map[string]any
	require.NoError(t, json.Unmarshal(text, &want))

	for _, workers := range []int{1, 2, 64} {
		r, err := count(t, hotcount.Options{}, workers, file(realLog))
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, r.WriteJSON(&out))
		var got map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &got))
		for key := range want {
			assert.Equal(t, want[key], got[key], "%s with %d workers", key, workers)
		}
	}
}

// randomLog returns lines of few paths, hours and shapes, in no order of time,
// and some that are malformed.
func randomLog(r *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		switch r.IntN(20) {
		case 0:
			b.WriteString("no line of a log\n")
		case 1:
			fmt.Fprintf(&b, "192.0.2.1 - - [17/May/2015:%02d:05:03 +0000] \"-\" 408 -\n", r.IntN(24))
		default:
			fmt.Fprintf(&b, "2001:db8::%d - - [%02d/May/2015:%02d:05:03 %+03d30] \"%s /%d%s HTTP/1.1\" %d %d\r\n",
				r.IntN(50), 1+r.IntN(3), r.IntN(24), r.IntN(24)-12, []string{"GET", "HEAD", "PURGE"}[r.IntN(3)],
				r.IntN(200), strings.Repeat("x", r.IntN(20)), 200+r.IntN(300), r.IntN(1<<20))
		}
	}
	return b.String()
}

// However many workers share the work and however the log is cut into files,
// nothing but the places of malformed lines differs.
func TestAnySplit(t *testing.T) {
	log := randomLog(rand.New(rand.NewPCG(1, 2)), 3_000)
	lines := strings.SplitAfter(log, "\n")
	want, err := count(t, hotcount.Options{}, 1, stringSource("whole", log))
	require.NoError(t, err)
	want.MalformedLines = nil
	for _, workers := range []int{1, 3, 64} {
		for _, cut := range []int{0, 1, 777} {
			got, err := count(t, hotcount.Options{}, workers,
				stringSource("a", strings.Join(lines[:cut], "")), stringSource("b", strings.Join(lines[cut:], "")))
			require.NoError(t, err)
			got.MalformedLines = nil
			require.Equal(t, want, got, "%d workers, cut at %d", workers, cut)
		}
	}
}

// A family that is full keeps exact counts of the series that it has, and the
// exact rest of the total.
func TestOverflow(t *testing.T) {
	log := randomLog(rand.New(rand.NewPCG(3, 4)), 5_000)
	for _, workers := range []int{1, 64} {
		r, err := count(t, hotcount.Options{Limits: Limits(5)}, workers, stringSource("log", log))
		require.NoError(t, err)
		assert.Equal(t, 5, r.UniquePaths)
		assert.Positive(t, r.Overflow[pathTotal])
		assert.Positive(t, r.Overflow[statusTotal])
		assert.NotContains(t, r.Overflow, methodTotal, "four methods have room")
	}
}

func TestRestart(t *testing.T) {
	dir := t.TempDir()
	var first *Report
	for i := range int64(3) {
		e, err := hotcount.New(hotcount.Options{Dir: dir})
		require.NoError(t, err)
		exact := NewExact()
		_, err = Run(t.Context(), []Source{file(realLog)}, 4, NewTally(e), exact)
		require.NoError(t, err)
		assert.Empty(t, Verify(OfThisRun(e), exact.Counts()).Differences)
		r := NewReport(e, 10)
		require.NoError(t, e.Close(t.Context()))

		if i == 0 {
			assert.Nil(t, r.Restored)
			first = r
		} else {
			require.NotNil(t, r.Restored)
			assert.Equal(t, i*realLines, r.Restored.Lines)
			assert.False(t, r.Restored.Taken.IsZero())
		}
		assert.Equal(t, first.ThisRun, r.ThisRun)
		assert.Equal(t, (i+1)*first.Lines, r.Lines)
		assert.Equal(t, (i+1)*first.Bytes, r.Bytes)
		assert.Equal(t, first.Clients, r.Clients, "the same clients come again")
		for status, n := range first.ByStatus {
			assert.Equal(t, (i+1)*n, r.ByStatus[status])
		}
		for j, p := range first.TopPaths {
			assert.Equal(t, PathHits{p.Path, (i + 1) * p.Hits}, r.TopPaths[j])
		}
		for j, h := range first.ByHour {
			assert.Equal(t, HourHits{h.Hour, (i + 1) * h.Hits, h.Clients}, r.ByHour[j])
		}
	}
}

const good = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5` + "\n"

func TestMalformedLinesAreTheFirst(t *testing.T) {
	many := strings.Repeat(good, 3000) // several batches
	sources := []Source{
		stringSource("a", good),
		stringSource("b", many+"bad 1\n"+good+"\nbad 2"),
		stringSource("c", "192.0.2.1 - - bad\n"+many),
		stringSource("d", strings.Repeat("bad\n", 100_000)),
	}
	for _, workers := range []int{1, 2, 64} {
		r, err := count(t, hotcount.Options{}, workers, sources...)
		require.NoError(t, err)
		assert.EqualValues(t, 100_004, r.Malformed)
		assert.EqualValues(t, 6_002+100_004, r.Lines)
		assert.Equal(t, []Malformed{
			{"b", 3001, accesslog.ErrTime.Error()},
			{"b", 3003, accesslog.ErrClient.Error()},
			{"b", 3004, accesslog.ErrTime.Error()},
			{"c", 1, accesslog.ErrTime.Error()},
			{"d", 1, accesslog.ErrClient.Error()},
		}, r.MalformedLines)
	}
}

// A source that fails is named; what was read of it and all others count.
func TestFailingSource(t *testing.T) {
	broken := errors.New("broken")
	r, err := count(t, hotcount.Options{}, 2,
		stringSource("a", good),
		file("testdata/absent.log"),
		file("testdata"),
		Source{"half", func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(good), iotest.ErrReader(broken))), nil
		}},
		stringSource("b", good+good),
	)
	assert.ErrorIs(t, err, broken)
	assert.ErrorIs(t, err, os.ErrNotExist)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 3)
	assert.True(t, strings.HasPrefix(lines[0], "absent.log: "), lines[0])
	assert.True(t, strings.HasPrefix(lines[1], "testdata: "), lines[1])
	assert.Equal(t, "half: broken", lines[2])
	assert.EqualValues(t, 4, r.Lines)
	assert.Zero(t, r.Malformed)
}

// After a cancellation, what was read is counted and the error says that it is
// not all.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	endless := Source{"endless", func() (io.ReadCloser, error) {
		reads := 0
		return io.NopCloser(readerFunc(func(p []byte) (int, error) {
			if reads++; reads == 100 {
				cancel(stop)
			}
			return copy(p, good), nil
		})), nil
	}}
	e := newEngine(t, hotcount.Options{})
	exact := NewExact()
	_, err := Run(ctx, []Source{endless, stringSource("never", good)}, 4, NewTally(e), exact)
	assert.ErrorIs(t, err, stop)
	assert.Empty(t, Verify(OfThisRun(e), exact.Counts()).Differences)
	assert.Positive(t, NewReport(e, 1).Lines)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A line longer than a batch is one line, and one longer than is kept still
// counts by its head. A path is cut where its label ends.
func TestLongLines(t *testing.T) {
	const head = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /`
	long := strings.Repeat("x", 2*accesslog.MaxLine)
	r, err := count(t, hotcount.Options{}, 3, stringSource("log",
		strings.TrimSpace(good)+` "-" "`+long+"\"\n"+ // an agent without end
			head+long[:accesslog.BatchSize]+" HTTP/1.1\" 200 5\n"+
			head+long+" HTTP/1.1\" 200 5\n"+ // nothing after the path is kept
			good))
	require.NoError(t, err)
	assert.EqualValues(t, 4, r.Lines)
	assert.EqualValues(t, 1, r.Malformed)
	assert.Equal(t, []PathHits{{"/a", 2}, {"/" + long[:maxPath-1], 1}}, r.TopPaths)
}

func TestHours(t *testing.T) {
	for unix, want := range map[int64]string{
		0:          "1970-01-01T00:00Z",
		3599:       "1970-01-01T00:00Z",
		-1:         "1969-12-31T23:00Z",
		-3600:      "1969-12-31T23:00Z",
		-3601:      "1969-12-31T22:00Z",
		1431857103: "2015-05-17T10:00Z",
	} {
		assert.Equal(t, want, formatHour(hourOf(&accesslog.Record{Time: unix})))
	}
}
