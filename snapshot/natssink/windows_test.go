package natssink

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// withWindows returns a sink with a stream of windows of the test's own.
func withWindows(t *testing.T, k *Sink, windows string) *Sink {
	t.Helper()
	w, err := New(Options{JetStream: k.js, Stream: k.name, Windows: windows, AckWait: time.Second})
	require.NoError(t, err)
	return w
}

// windowsOf returns a window of n buckets of one minute: as many adds in each as
// its number, and more in the last.
func windowsOf(k series.Key, start time.Time, n int, more int64) []snapshot.WindowRows {
	w := snapshot.WindowRows{Key: k}
	for i := range n {
		w.Rows = append(w.Rows, window.Row{Resolution: time.Minute, Width: time.Minute,
			Start: start.Add(time.Duration(i) * time.Minute).UnixNano(), Count: int64(i + 1)})
	}
	w.Rows[n-1].Count += more
	return []snapshot.WindowRows{w}
}

// Buckets of all writers add up, however often they are sent, and those of writers
// that are gone stay until the server forgets them by age.
func TestWindows(t *testing.T) {
	k := connect(t)
	name := "test-" + rand.Text()
	create(t, k.js, WindowsConfig(name, time.Hour))
	t.Cleanup(func() { k.js.DeleteStream(context.Background(), name) })
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	views := key(t, "views", "x")
	const writers, minutes = 3, 4
	for range writers {
		sink, c := withWindows(t, k, name), newCounting()
		c.Started = start
		for n := 1; n <= minutes; n++ {
			for more := range int64(3) {
				c.Windows = windowsOf(views, start, n, more)
				require.NoError(t, sink.Write(t.Context(), c.next()))
			}
			c.Windows = windowsOf(views, start, n, 0)
		}
		require.NoError(t, sink.Write(t.Context(), c.next()))
	}
	check := func() {
		t.Helper()
		got, err := withWindows(t, k, name).Window(t.Context(), views, time.Minute, start.Add(time.Minute), start.Add(time.Hour))
		require.NoError(t, err)
		require.Len(t, got, minutes-1)
		for i, b := range got {
			assert.True(t, b.Start.Equal(start.Add(time.Duration(i+1)*time.Minute)))
			want := int64(i+2) * writers
			assert.Equal(t, want, b.Count, "minute %d", i+1)
		}
	}
	check()
	done, err := k.Compact(t.Context(), time.Nanosecond)
	require.NoError(t, err)
	assert.Equal(t, writers, done.Writers)
	check()
}

// A bucket of a flush that was stopped does not count, and a later flush sends it.
func TestWindowsOfAStoppedFlush(t *testing.T) {
	k := connect(t)
	name := "test-" + rand.Text()
	create(t, k.js, WindowsConfig(name, time.Hour))
	t.Cleanup(func() { k.js.DeleteStream(context.Background(), name) })
	net := &stopping{JetStream: k.js}
	sink := withWindows(t, k, name)
	sink.js = net
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	views, c := key(t, "views", "x"), newCounting()
	c.Started = start
	read := func() (n int64) {
		got, err := sink.Window(t.Context(), views, time.Minute, start, start.Add(time.Hour))
		require.NoError(t, err)
		for _, b := range got {
			n += b.Count
		}
		return n
	}
	for i, step := range []struct{ messages, want int64 }{{2, 0}, {3, 1}, {2, 1}, {0, 1}, {2, 1}, {3, 6}} {
		c.Windows = windowsOf(views, start, 1, int64(i))
		if step.want == 1 {
			c.Windows = windowsOf(views, start, 1, 0)
		}
		s := c.next()
		_ = net.run(t, step.messages, func(ctx context.Context) error { return sink.Write(ctx, s) })
		assert.Equal(t, step.want, read(), "step %d", i)
	}
}

func TestWindowsNeedAStream(t *testing.T) {
	k := connect(t)
	views := key(t, "views", "x")
	_, err := k.Window(t.Context(), views, time.Minute, time.Time{}, time.Now())
	require.ErrorIs(t, err, export.ErrSchema)
	name := "test-" + rand.Text()
	create(t, k.js, StreamConfig(name)) // which would keep buckets for ever
	t.Cleanup(func() { k.js.DeleteStream(context.Background(), name) })
	_, err = withWindows(t, k, name).Window(t.Context(), views, time.Minute, time.Time{}, time.Now())
	require.ErrorIs(t, err, export.ErrSchema)
	_, err = New(Options{JetStream: k.js, Stream: k.name, Windows: k.name})
	require.Error(t, err)
}
