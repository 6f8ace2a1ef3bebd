package live_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/window"
)

// update is what these tests read of an update.
type update struct {
	Series, Matches int
	Rate            float64
	Rated           bool
	Rows            []struct {
		Family, Labels, Total string
		Rate                  float64
		Window                *struct{ PerSecond []float64 }
		Hot                   bool
		Stripes               []int64
	}
	Uniques struct {
		Rows []struct {
			Family, Labels, Count, Low, High string
			Covered                          float64
		}
		Hidden int
	}
	Windows struct {
		Rows []struct{ Family, Count string }
	}
	Exports struct {
		Rows []struct{ Sink, Error string }
	}
	Health struct {
		Rows   []struct{ Family, Labels, Value string }
		Hidden int
	}
}

// A viewer is a client without a network: in a synctest bubble its clock is the
// bubble's.
type viewer struct {
	header http.Header
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	written bytes.Buffer
	code    int
}

func (v *viewer) Header() http.Header  { return v.header }
func (v *viewer) WriteHeader(code int) { v.code = code }
func (v *viewer) Flush()               {}

func (v *viewer) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.written.Write(p)
}

// open opens a stream. Its code is 0 while it goes on.
func open(page http.Handler, query string) *viewer {
	ctx, cancel := context.WithCancel(context.Background())
	v := &viewer{header: http.Header{}, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(v.ended)
		page.ServeHTTP(v, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/events?"+query, nil))
	}()
	return v
}

func (v *viewer) leave() {
	v.cancel()
	<-v.ended
}

// updates returns all that has come so far.
func (v *viewer) updates(t *testing.T) (all []update) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for line := range strings.Lines(v.written.String()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var u update
			require.NoError(t, json.Unmarshal([]byte(data), &u))
			all = append(all, u)
		}
	}
	return all
}

func (v *viewer) last(t *testing.T) update {
	t.Helper()
	all := v.updates(t)
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

// Rates are those of the adds, a window's too, and the busiest come first.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t)
		fast, slow := e.Counter("jobs_total", "queue", "fast"), e.Counter("jobs_total", "queue", "slow")
		slow.Add(1_000_000)
		_, err := e.Window(fast, window.Options{})
		require.NoError(t, err)
		v := open(newPage(t, e, live.Options{}), "")
		synctest.Wait()
		first := v.last(t)
		assert.False(t, first.Rated)
		assert.Equal(t, "1000000", first.Rows[0].Total, "without rates the largest comes first")
		time.Sleep(500 * time.Millisecond) // adds come between updates
		for range 30 {
			fast.Add(500)
			slow.Add(20)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		now := v.last(t)
		require.Len(t, now.Rows, 2)
		assert.Equal(t, `{queue="fast"}`, now.Rows[0].Labels)
		assert.Equal(t, "15000", now.Rows[0].Total)
		assert.InDelta(t, 500, now.Rows[0].Rate, 1)
		assert.InDelta(t, 20, now.Rows[1].Rate, 1)
		assert.InDelta(t, 520, now.Rate, 2)
		assert.Contains(t, now.Rows[0].Window.PerSecond, 500.0)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		assert.Zero(t, v.last(t).Rate, "a burst is soon forgotten")
		assert.Nil(t, now.Rows[1].Window)
		v.leave()
	})
}

// A series that left and came back counts from zero: its rate is never negative.
func TestRatesOfReturningSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := hotcount.New(hotcount.Options{Dir: t.TempDir(), Interval: 500 * time.Millisecond})
		require.NoError(t, err)
		c := e.Counter("jobs_total")
		v := open(newPage(t, e, live.Options{}), "")
		for i := range 40 {
			c.Add(100)
			if i%3 == 0 {
				c.Delete()
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		for _, u := range v.updates(t) {
			assert.GreaterOrEqual(t, u.Rate, 0.0)
		}
		v.leave()
		require.NoError(t, e.Close(context.Background()))
	})
}

// Bytes and nanoseconds are no events.
func TestAmountsAreNoEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := hotcount.New(hotcount.Options{})
		require.NoError(t, err)
		jobs, bytes := e.Counter("jobs_total"), e.Counter("read_bytes_total")
		busy := e.Counter("busy_nanoseconds_total", "worker", "1")
		v := open(newPage(t, e, live.Options{}), "")
		for range 10 {
			jobs.Add(10)
			bytes.Add(1e6)
			busy.Add(1e9)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		updates := v.updates(t)
		assert.InDelta(t, 10, updates[len(updates)-1].Rate, 10)
		v.leave()
		require.NoError(t, e.Close(context.Background()))
	})
}

// All who look are served from one view a tick; nobody's looking takes none.
// synctest fails if a goroutine is left at the end.
func TestOneUpdateATickForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t)
		page := newPage(t, e, live.Options{Interval: 2 * time.Second})
		c := e.Counter("jobs_total")
		var viewers []*viewer
		for i := range 5 {
			viewers = append(viewers, open(page, fmt.Sprint("q=", i)), open(page, ""))
		}
		synctest.Wait()
		for _, v := range viewers {
			assert.Len(t, v.updates(t), 1, "the first comes at once")
		}
		time.Sleep(time.Second)
		c.Inc() // after the view that all have
		late := open(page, "")
		synctest.Wait()
		assert.Len(t, late.updates(t), 1)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		for _, v := range viewers {
			assert.Len(t, v.updates(t), 6)
			v.leave()
		}
		late.leave()
	})
}

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := open(newPage(t, newEngine(t), live.Options{Interval: time.Hour}), "")
		time.Sleep(46 * time.Second)
		synctest.Wait()
		assert.Len(t, v.updates(t), 1)
		assert.Equal(t, 3, strings.Count(v.written.String(), ":\n\n"))
		v.leave()
	})
}

// Streams beyond the limit are refused until one ends, and Close ends all.
func TestStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newPage(t, newEngine(t), live.Options{Streams: 2})
		a, b := open(page, ""), open(page, "")
		synctest.Wait()
		c := open(page, "")
		<-c.ended
		assert.Equal(t, http.StatusServiceUnavailable, c.code)
		assert.NotEmpty(t, c.header.Get("Retry-After"))
		a.leave()
		d := open(page, "")
		synctest.Wait()
		assert.NotEmpty(t, d.updates(t))
		page.Close()
		<-b.ended
		<-d.ended
		f := open(page, "")
		<-f.ended
		assert.Equal(t, http.StatusServiceUnavailable, f.code)
		page.Close()
	})
}

// However many series there are, an update has the first few, and the search
// looks at all of them.
func TestUpdatesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t)
		const series = 5000
		for i := range series {
			e.Counter("views_total", "post", fmt.Sprint(i)).Add(int64(i))
			e.Uniques("readers", "post", fmt.Sprint(i)).AddString("me")
		}
		page := newPage(t, e, live.Options{Rows: 30})
		all, some := open(page, ""), open(page, "q=VIEWS+499&by=name")
		synctest.Wait()
		u := all.last(t)
		assert.Len(t, u.Rows, 30)
		assert.Equal(t, series, u.Matches)
		assert.Equal(t, "4999", u.Rows[0].Total)
		assert.Len(t, u.Uniques.Rows, 50)
		assert.Equal(t, series-50, u.Uniques.Hidden)
		u = some.last(t)
		assert.Equal(t, series, u.Series)
		assert.Equal(t, 15, u.Matches) // 499, 1499, …, 4499 and 4990 to 4999
		assert.Equal(t, `{post="1499"}`, u.Rows[0].Labels)
		assert.Less(t, all.written.Len(), 64<<10)
		all.leave()
		some.leave()
	})
}

// Everything is shown as text that a page can show, whatever labels and errors
// hold, and no password is.
func TestTextsAreSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := hotcount.New(hotcount.Options{Sinks: []export.Sink{failing{}}, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		e.Counter("jobs_total", "queue", "<script>\xff\u202e\n\x00"+strings.Repeat("x", 1000)).Inc()
		v := open(newPage(t, e, live.Options{}), "")
		time.Sleep(time.Minute)
		synctest.Wait()
		u := v.last(t)
		labels := u.Rows[0].Labels
		assert.True(t, strings.HasPrefix(labels, `{queue="<script>\xff\u202e\n\x00xxx`), labels)
		assert.True(t, strings.HasSuffix(labels, "…"))
		assert.NotContains(t, v.written.String(), "hunter2")
		assert.NotContains(t, v.written.String(), "\u202e")
		require.Len(t, u.Exports.Rows, 1)
		assert.Contains(t, u.Exports.Rows[0].Error, "redis://…@host")
		v.leave()
		require.Error(t, e.Close(expired()))
	})
}

func TestQueriesAreChecked(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{})
	for _, query := range []string{"by=nonsense", "q=" + strings.Repeat("x", 201)} {
		v := open(page, query)
		<-v.ended
		assert.Equal(t, http.StatusBadRequest, v.code, query)
	}
}

// Over a real connection streams end with their client, and a server that shuts
// down need not wait for them once the page is closed.
func TestServerShutsDown(t *testing.T) {
	e := newEngine(t)
	page := newPage(t, e, live.Options{})
	server := httptest.NewUnstartedServer(page)
	server.Config.RegisterOnShutdown(page.Close)
	server.Config.WriteTimeout = time.Nanosecond // which is not for streams
	server.Start()
	defer server.Close()
	resp, err := http.Get(server.URL + "/events")
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	in := bufio.NewReader(resp.Body)
	for !strings.HasPrefix(must(t, in), "data: ") {
	}
	require.NoError(t, server.Config.Shutdown(t.Context()))
	_, err = io.Copy(io.Discard, in)
	require.NoError(t, err)
}

func must(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	line, err := in.ReadString('\n')
	require.NoError(t, err)
	return line
}
