package export

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/snapshot"
)

// What can never succeed ends the Writes, and nothing else does.
func TestASinkThatIsTooLateForTheLiveWriterStops(t *testing.T) {
	dead, alive := &recorder{err: fmt.Errorf("no: %w", ErrTooLate)}, &recorder{}
	log := newLog()
	exporting(t, Options{Sinks: []Sink{dead, alive}, Logger: log.Logger}, func(t *testing.T, e *Exporter, src *tally) {
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, dead.seqs, 1)
		require.Greater(t, len(alive.seqs), 300)
		require.Zero(t, src.acked.Load(), "rows that the dead sink lacks are not let go")
		require.Equal(t, []string{"ERROR hotcount/export: sink stopped for good"}, log.lines())

		start := time.Now()
		var u *UnflushedError
		require.ErrorAs(t, e.Close(t.Context()), &u)
		require.Less(t, time.Since(start), time.Second, "there is nothing to wait for")
		require.Len(t, u.Sinks, 1)
		require.True(t, u.Sinks[0].Stopped)
		require.ErrorIs(t, u, dead.err)
	})
}

// What an operator can mend is tried again every few minutes, and logged as an
// error that says what to do. Once it is mended, all is written, and one line says
// what the sink was behind.
func TestABlockedSinkIsRetriedAndRecovers(t *testing.T) {
	for _, kind := range []error{ErrDenied, ErrSchema, ErrReadOnly, ErrFull, ErrTooLarge, ErrForeign} {
		t.Run(kind.Error(), func(t *testing.T) {
			sink, log := &recorder{err: fmt.Errorf("store: %w", kind)}, newLog()
			exporting(t, Options{Sinks: []Sink{sink}, Logger: log.Logger}, func(t *testing.T, e *Exporter, src *tally) {
				time.Sleep(12 * time.Hour)
				synctest.Wait()
				tries := len(sink.times)
				for i, at := range sink.times[1:] {
					require.LessOrEqual(t, at.Sub(sink.times[i]), maxBlocked)
				}
				require.Greater(t, sink.times[tries-1].Sub(sink.times[tries-2]), maxBackoff, "slowly")
				require.True(t, e.Stats().Sinks[0].Blocked)
				for _, line := range log.lines() {
					require.Equal(t, "ERROR hotcount/export: sink is blocked", line)
				}
				require.Contains(t, log.String(), fmt.Sprintf("do=%q", advice(kind)))
				start := time.Now()
				require.ErrorIs(t, e.Flush(t.Context()), kind)
				require.Less(t, time.Since(start), 2*time.Second, "one try is enough")
				synctest.Wait()
				require.Greater(t, len(sink.times), tries)

				sink.mend()
				src.n.Store(7)
				time.Sleep(maxBlocked)
				synctest.Wait()
				require.EqualValues(t, 7, sink.last)
				require.False(t, e.Stats().Sinks[0].Blocked)
				time.Sleep(time.Hour)
				synctest.Wait()
				require.Equal(t, 1, strings.Count(log.String(), "INFO hotcount/export: sink recovered"))
				require.Regexp(t, `sink recovered sink=\S+ seq=\d+ failures=\d+ behind=12h\S+ snapshots=4\d{3}\n`, log.String())
			})
		})
	}
}

func TestCloseTriesABlockedSinkOnce(t *testing.T) {
	for _, mended := range []bool{true, false} {
		sink := &recorder{err: ErrSchema}
		exporting(t, Options{Sinks: []Sink{sink}}, func(t *testing.T, e *Exporter, src *tally) {
			time.Sleep(time.Hour)
			synctest.Wait()
			if mended {
				sink.mend()
			}
			src.n.Store(7)
			tries, start := len(sink.times), time.Now()
			err := e.Close(t.Context())
			require.Equal(t, !mended, errors.Is(err, ErrSchema))
			require.Equal(t, tries+1, len(sink.times))
			require.Less(t, time.Since(start), time.Second)
			require.Equal(t, mended, sink.last == 7)
		})
	}
}

// Counts of an earlier run that a store refuses do not hold up the live ones, nor
// are they given up.
func TestABlockedEarlierRunDoesNotHoldUpLiveCounts(t *testing.T) {
	r := &refuser{writer: snapshot.WriterID{9}, with: ErrTooLarge}
	var handed []snapshot.WriterID
	exporting(t, Options{
		Sinks:    []Sink{r},
		Prior:    []*snapshot.Snapshot{{Writer: snapshot.WriterID{9}}},
		HandedOn: func(w snapshot.WriterID) { handed = append(handed, w) },
	}, func(t *testing.T, e *Exporter, src *tally) {
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Greater(t, len(r.seqs), 300)
		require.True(t, e.Stats().Sinks[0].Blocked)
		require.NoError(t, e.Flush(t.Context()))
		synctest.Wait()
		require.Empty(t, handed)
		r.mend()
		src.n.Store(1)
		time.Sleep(maxBlocked)
		synctest.Wait()
		require.Equal(t, []snapshot.WriterID{{9}}, handed)
		require.False(t, e.Stats().Sinks[0].Blocked)
	})
}

// Flush waits for no back-off, not even that of an earlier run's counts.
func TestFlushTriesAnEarlierRunAtOnce(t *testing.T) {
	r := &refuser{writer: snapshot.WriterID{9}, with: errors.New("out of order")}
	var handed []snapshot.WriterID
	exporting(t, Options{
		Sinks:    []Sink{r},
		Prior:    []*snapshot.Snapshot{{Writer: snapshot.WriterID{9}}},
		HandedOn: func(w snapshot.WriterID) { handed = append(handed, w) },
	}, func(t *testing.T, e *Exporter, _ *tally) {
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, handed)
		r.mend()
		start := time.Now()
		require.NoError(t, e.Flush(t.Context()))
		synctest.Wait()
		require.Equal(t, []snapshot.WriterID{{9}}, handed)
		require.Zero(t, time.Since(start))
	})
}

// A logged is a logger's text, without the time.
type logged struct {
	*slog.Logger
	mu   sync.Mutex
	text strings.Builder
}

func newLog() *logged {
	l := &logged{}
	l.Logger = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return l
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	level, rest, _ := strings.Cut(strings.TrimPrefix(string(b), "level="), " msg=\"")
	message, rest, _ := strings.Cut(rest, "\"")
	return l.text.WriteString(level + " " + message + rest)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lines returns the levels and messages.
func (l *logged) lines() (lines []string) {
	for line := range strings.Lines(l.String()) {
		head, _, _ := strings.Cut(line, " sink=")
		lines = append(lines, head)
	}
	return lines
}
