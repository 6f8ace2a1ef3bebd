package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

// An answer is what a client reads.
type answer struct {
	Taken   time.Time
	Exports struct {
		Seq   string
		Sinks []struct {
			Name, Acked, Writes string
			Error               string
			Stopped             bool
		}
	}
	Counters []struct {
		Key, Name  string
		Labels     map[string]string
		Total, Run string
		Created    time.Time
		Window     map[string]struct {
			Count   string
			Covered float64 `json:"covered_seconds"`
			Rate    float64 `json:"per_second"`
		}
	}
	Uniques []struct{ Key, Count, Low, High string }
	Events  []struct {
		Key, Late, Future string
		Window            map[string]struct{ Count string }
	}
	UniquesWindows []struct {
		Key    string
		Window map[string]struct{ Count, Low, High string }
	} `json:"uniques_windows"`
	Gauges []struct {
		Key   string
		Value *float64
	}
	Health []struct {
		Key, Total string
		Value      *float64
	}
	Next string
}

// keys returns all keys of the document.
func (a *answer) keys() (keys []string) {
	for _, r := range a.Counters {
		keys = append(keys, r.Key)
	}
	for _, r := range a.Uniques {
		keys = append(keys, r.Key)
	}
	for _, r := range a.Events {
		keys = append(keys, r.Key)
	}
	for _, r := range a.UniquesWindows {
		keys = append(keys, r.Key)
	}
	for _, r := range a.Gauges {
		keys = append(keys, r.Key)
	}
	for _, r := range a.Health {
		keys = append(keys, r.Key)
	}
	return keys
}

func get(t testing.TB, h http.Handler, query string) answer {
	t.Helper()
	w, panicked := serve(h, httptest.NewRequest("GET", "/?"+query, nil))
	require.Nil(t, panicked)
	require.Equal(t, 200, w.Code, w.Body)
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
	assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	var a answer
	d := json.NewDecoder(w.Body)
	require.NoError(t, d.Decode(&a))
	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF)
	return a
}

// nastyValues are label values of strangers.
var nastyValues = []string{
	"", "a", "a\xff", "a\xfe", `a\xff`, "a\ufffd", "\xc3\x28", "\xed\xa0\x80", "\x00", "\x1b[2J", "\u2028", `"}`, `\`, "\n",
	"</script>", "ä", "日本", strings.Repeat("long", 99), "a,b=\"c\"", "\xf0\x9f\x98", "😀",
}

// The document shows every kind of series, exactly.
func TestHandlerShowsAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, hotcount.Options{Dir: t.TempDir()})
		m := newMiddleware(t, e, Options{})
		jobs := e.Counter("jobs_total", "queue", "mail", "app", "x")
		_, err := e.Window(jobs, window.Options{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		jobs.Add(math.MaxInt64 - 5)
		e.Uniques("visitors").AddString("a")
		ev, err := e.Events("events_total", window.EventsOptions{Resolution: time.Second})
		require.NoError(t, err)
		ev.AddAt(time.Now(), 3)
		u, err := e.UniquesWindow("recent_visitors", window.UniquesOptions{})
		require.NoError(t, err)
		u.AddString("b")
		require.NoError(t, e.Flush(t.Context()))

		a := get(t, Handler(e, m), "")
		assert.True(t, time.Now().Equal(a.Taken))
		require.Len(t, a.Counters, 1)
		c := a.Counters[0]
		assert.Equal(t, `jobs_total{app="x",queue="mail"}`, c.Key)
		assert.Equal(t, "jobs_total", c.Name)
		assert.Equal(t, map[string]string{"app": "x", "queue": "mail"}, c.Labels)
		assert.Equal(t, "9223372036854775802", c.Total)
		assert.Equal(t, "9223372036854775802", c.Run)
		assert.False(t, c.Created.IsZero())
		for _, span := range []string{"1m", "1h", "24h"} {
			assert.Equal(t, "9223372036854775802", c.Window[span].Count)
			assert.InDelta(t, 10, c.Window[span].Covered, 1)
			assert.InEpsilon(t, float64(math.MaxInt64)/c.Window[span].Covered, c.Window[span].Rate, 1e-9)
		}
		assert.Equal(t, "[{visitors 1 1 1}]", fmt.Sprint(a.Uniques))
		require.Len(t, a.Events, 1)
		assert.Equal(t, "3", a.Events[0].Window["1m"].Count)
		require.Len(t, a.UniquesWindows, 1)
		assert.Equal(t, "1", a.UniquesWindows[0].Window["1h"].Count)
		require.Len(t, a.Gauges, 1)
		assert.Equal(t, "http_requests_in_flight", a.Gauges[0].Key)
		assert.Contains(t, a.keys(), "hotcount_series")
		assert.Contains(t, a.keys(), "hotcount_snapshots_total")
		require.Len(t, a.Exports.Sinks, 1)
		assert.Equal(t, a.Exports.Seq, a.Exports.Sinks[0].Acked)
		assert.Empty(t, a.Next)
	})
}

// Pages of any length, put together, are every series that has the prefix, once,
// in order, and no two series have the same key.
func TestHandlerPages(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	e := enginetest.New(t, hotcount.Options{})
	want := make(map[string]bool)
	for i, v := range nastyValues {
		for _, name := range []string{"a_total", "ab_total", "z_total"} {
			want[keyText(counterKey(e.Counter(name, "l", v), int64(i)))] = true
		}
		e.Uniques("b", "l", v).AddString("x")
		want[keyText(e.Uniques("b", "l", v).Key())] = true
	}
	require.Len(t, want, 4*len(nastyValues))
	h := Handler(e)
	for range 60 {
		prefix := []string{"", "a", "a_total", "ab_", `a_total{l="a`, "b", "nothing", "hotcount_"}[r.IntN(8)]
		var wanted []string
		for k := range want {
			if strings.HasPrefix(k, prefix) {
				wanted = append(wanted, k)
			}
		}
		slices.Sort(wanted)

		var got []string
		after := ""
		for {
			limit := 1 + r.IntN(40)
			q := url.Values{"prefix": {prefix}, "limit": {fmt.Sprint(limit)}, "after": {after}}
			a := get(t, h, q.Encode())
			page := a.keys()
			slices.Sort(page)
			require.LessOrEqual(t, len(page), limit)
			got = append(got, page...)
			if a.Next == "" {
				break
			}
			require.Equal(t, page[len(page)-1], a.Next)
			require.Len(t, page, limit)
			after = a.Next
		}
		require.True(t, slices.IsSorted(got))
		if prefix != "hotcount_" {
			got = slices.DeleteFunc(got, func(k string) bool { return strings.HasPrefix(k, "hotcount_") })
			require.Equal(t, wanted, got, "prefix %q", prefix)
		} else {
			require.Contains(t, got, "hotcount_series")
		}
	}
}

func keyText(k series.Key) string { return series.ToValidUTF8(k.String()) }

func counterKey(c *hotcount.Counter, n int64) series.Key {
	c.Add(n)
	return c.Key()
}

// Asking twice gets the same bytes, but for the time, when nothing is counted.
func TestHandlerIsDeterministic(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	for i := range 300 {
		e.Counter("a_total", "l", fmt.Sprint(i), "m", fmt.Sprint(-i)).Inc()
	}
	h := Handler(e)
	first, _ := serve(h, httptest.NewRequest("GET", "/?prefix=a_", nil))
	second, _ := serve(h, httptest.NewRequest("GET", "/?prefix=a_", nil))
	_, a, _ := strings.Cut(first.Body.String(), "\n")
	_, b, _ := strings.Cut(second.Body.String(), "\n")
	assert.Equal(t, a, b)
}

// What earlier runs counted is there before anybody asks for it, once.
func TestHandlerShowsWhatEarlierRunsLeft(t *testing.T) {
	dir := t.TempDir()
	e := enginetest.New(t, hotcount.Options{Dir: dir})
	e.Counter("a_total", "l", "old").Add(7)
	e.Counter("a_total", "l", "both").Add(5)
	require.NoError(t, e.Close(context.Background()))

	e = enginetest.New(t, hotcount.Options{Dir: dir})
	e.Counter("a_total", "l", "both").Add(1)
	a := get(t, Handler(e), "prefix=a_")
	require.Len(t, a.Counters, 2)
	assert.Equal(t, `a_total{l="both"} 6 1`, fmt.Sprint(a.Counters[0].Key, " ", a.Counters[0].Total, " ", a.Counters[0].Run))
	assert.Equal(t, `a_total{l="old"} 7 0`, fmt.Sprint(a.Counters[1].Key, " ", a.Counters[1].Total, " ", a.Counters[1].Run))
	assert.True(t, a.Counters[1].Created.IsZero())
	assert.JSONEq(t, `{"a_total{l=\"both\"}": 6, "a_total{l=\"old\"}": 7}`, onlyPrefix(t, Var(e).String(), "a_"))
}

func TestHandlerRefuses(t *testing.T) {
	h := Handler(enginetest.New(t, hotcount.Options{}))
	for _, query := range []string{
		"limit=0", "limit=-1", "limit=100001", "limit=x", "limit=", "limit=1&limit=1", "limit=99999999999999999999",
		"perfix=a", "prefix=a&prefix=b", "prefix=%zz", "a;b", "after=a&after=b", "%00=1", "=",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r := httptest.NewRequest(method, "/", nil)
			r.URL.RawQuery = query
			w, _ := serve(h, r)
			assert.Equal(t, 400, w.Code, query)
			var body struct{ Error string }
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
			assert.Contains(t, body.Error, "hotcount/web: mistaken query: ")
			assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "BREW", "get"} {
		w, _ := serve(h, httptest.NewRequest(method, "/", nil))
		assert.Equal(t, 405, w.Code)
		assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
		assert.True(t, json.Valid(w.Body.Bytes()))
	}
	w, _ := serve(h, httptest.NewRequest("HEAD", "/?limit=1", nil))
	assert.Equal(t, 200, w.Code)
	assert.Zero(t, w.Body.Len())
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
}

// A client that goes away while it waits for its turn does not wait on.
func TestHandlerEndsWithItsClient(t *testing.T) {
	h := Handler(enginetest.New(t, hotcount.Options{})).(*handler)
	h.source.turn <- struct{}{} // somebody else's page is being taken
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, _ := serve(h, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	assert.Equal(t, 503, w.Code)
	<-h.source.turn
}

// A document that cannot be written to its end is not ended as if it were whole.
func TestHandlerAbortsWhatItCannotEnd(t *testing.T) {
	_, panicked := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Handler(enginetest.New(t, hotcount.Options{})).ServeHTTP(full{w}, r)
	}), httptest.NewRequest("GET", "/", nil))
	assert.Equal(t, http.ErrAbortHandler, panicked)
}

type full struct{ http.ResponseWriter }

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Gauges that are no number are null.
func TestHandlerShowsInfinityAsNull(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		it := item{"g", snapshot.GaugeRow{Key: mustDesc("g").Key(), Value: v}}
		b, err := json.Marshal(it.row())
		require.NoError(t, err)
		assert.JSONEq(t, `{"key":"g","name":"g","labels":{},"value":null}`, string(b))
		assert.Empty(t, it.number())
	}
}

// A refused sink is one whose error quotes its address.
type refused struct{}

func (refused) Write(context.Context, *snapshot.Snapshot) error {
	return errors.New("dial redis://me:hunter2@host: refused")
}

func (refused) String() string { return "redis://me:hunter2@host" }

// Passwords in what a sink says are in no answer.
func TestHandlerTellsNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := hotcount.New(hotcount.Options{Sinks: []export.Sink{refused{}}, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.Error(t, e.Close(t.Context()))
		w, _ := serve(Handler(e), httptest.NewRequest(http.MethodGet, "/", nil))
		assert.Contains(t, w.Body.String(), "dial redis://…@host: refused")
		assert.NotContains(t, w.Body.String()+Var(e).String(), "hunter2")
	})
}
