package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/window"
)

// A request counts under the code that its client got, or under why it got none.
func TestMiddlewareCountsWhatBecameOfARequest(t *testing.T) {
	broken := errors.New("broken")
	gone := func(r *http.Request) *http.Request {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		return r.WithContext(ctx)
	}
	late := func(r *http.Request) *http.Request {
		ctx, cancel := context.WithTimeout(r.Context(), -time.Second)
		defer cancel()
		return r.WithContext(ctx)
	}
	for _, c := range []struct {
		name    string
		handle  http.HandlerFunc
		request func(*http.Request) *http.Request
		code    int
		panics  any
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) {}, nil, 200, nil},
		{"a body", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") }, nil, 200, nil},
		{"a code", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, nil, 404, nil},
		{"two codes", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200) }, nil, 404, nil},
		{"a body, then a code", func(w http.ResponseWriter, _ *http.Request) { w.Write(nil); w.WriteHeader(500) }, nil, 200, nil},
		{"an empty reader, then a code", func(w http.ResponseWriter, _ *http.Request) {
			io.Copy(w, strings.NewReader(""))
			w.WriteHeader(409)
		}, nil, 409, nil},
		{"a flush, then a code", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); w.WriteHeader(500) }, nil, 200, nil},
		{"a hint, then a code", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(201) }, nil, 201, nil},
		{"a hint alone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103) }, nil, 200, nil},
		{"other protocol", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(101) }, nil, 101, nil},
		{"a panic", func(http.ResponseWriter, *http.Request) { panic(broken) }, nil, 500, broken},
		{"a panic after a code", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204); panic(broken) }, nil, 500, broken},
		{"a panic after the client has gone", func(http.ResponseWriter, *http.Request) { panic(broken) }, gone, 500, broken},
		{"an abort", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); panic(http.ErrAbortHandler) }, nil, 500, http.ErrAbortHandler},
		{"an abort, client gone", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, gone, 499, http.ErrAbortHandler},
		{"an abort after a code, client gone", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(206)
			panic(http.ErrAbortHandler)
		}, gone, 206, http.ErrAbortHandler},
		{"nothing, client gone", func(http.ResponseWriter, *http.Request) {}, gone, 499, nil},
		{"a code, client gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) }, gone, 302, nil},
		{"nothing, too late", func(http.ResponseWriter, *http.Request) {}, late, 200, nil},
	} {
		for _, exact := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/exact=%t", c.name, exact), func(t *testing.T) {
				e := enginetest.New(t, hotcount.Options{})
				m := newMiddleware(t, e, Options{ExactCodes: exact})
				r := httptest.NewRequest("GET", "/", nil)
				if c.request != nil {
					r = c.request(r)
				}
				_, panicked := serve(m.Wrap(c.handle), r)
				assert.Equal(t, c.panics, panicked)
				code := fmt.Sprintf("%dxx", c.code/100)
				if exact {
					code = fmt.Sprint(c.code)
				}
				assert.Equal(t, map[string]int64{fmt.Sprintf(`{code=%q,method="GET",route="unmatched"}`, code): 1}, requests(e))
				assert.Zero(t, m.InFlight())
			})
		}
	}
}

// A code that is none panics in net/http, and so counts as a panic.
func TestMiddlewareCountsAnInvalidCodeAsAPanic(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{})
	_, panicked := serve(m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(1_000_000)
	})), httptest.NewRequest("GET", "/", nil))
	assert.NotNil(t, panicked)
	assert.Equal(t, map[string]int64{`{code="5xx",method="GET",route="unmatched"}`: 1}, requests(e))
}

// Who recovers a panic above the middleware sees the stack that it came from.
func TestMiddlewareKeepsTheStackOfAPanic(t *testing.T) {
	m := newMiddleware(t, enginetest.New(t, hotcount.Options{}), Options{})
	var stack string
	func() {
		defer func() {
			recover()
			stack = string(debug.Stack())
		}()
		m.Wrap(http.HandlerFunc(thePlaceThatPanics)).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	assert.Contains(t, stack, "thePlaceThatPanics")
}

func thePlaceThatPanics(http.ResponseWriter, *http.Request) { panic("here") }

// A handler that ends its goroutine is counted, and is not in flight any more.
func TestMiddlewareCountsGoexit(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { runtime.Goexit() })), httptest.NewRequest("GET", "/", nil))
	}()
	<-done
	assert.Equal(t, map[string]int64{`{code="5xx",method="GET",route="unmatched"}`: 1}, requests(e))
	assert.Zero(t, m.InFlight())
}

// Whatever handlers do, by whatever method, at once: each request is counted once,
// its bytes are, and none stays in flight.
func TestMiddlewareConserves(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{})
	var read, written [8]int64 // by worker
	handler := func(worker int, r *rand.Rand) http.Handler {
		return m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			assert.Positive(t, m.inFlight.Value())
			b, _ := io.ReadAll(io.LimitReader(req.Body, r.Int64N(9)))
			read[worker] += int64(len(b))
			for range r.IntN(4) {
				switch r.IntN(4) {
				case 0:
					w.WriteHeader(200 + r.IntN(400))
				case 1:
					n, _ := w.Write(make([]byte, r.IntN(9)))
					written[worker] += int64(n)
				case 2:
					n, _ := io.Copy(w, strings.NewReader("abc"))
					written[worker] += n
				case 3:
					panic([]any{"x", http.ErrAbortHandler}[r.IntN(2)])
				}
			}
		}))
	}
	const each = 500
	var wg sync.WaitGroup
	for worker := range read {
		r := rand.New(rand.NewPCG(1, uint64(worker)))
		wg.Go(func() {
			h := handler(worker, r)
			for range each {
				method := []string{"GET", "POST", "BREW"}[r.IntN(3)]
				serve(h, httptest.NewRequest(method, "/", strings.NewReader("body")))
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, each*len(read), sum(requests(e)))
	var wantRead, wantWritten int64
	for i := range read {
		wantRead += read[i]
		wantWritten += written[i]
	}
	assert.Equal(t, wantRead, sum(totals(e, "http_request_bytes_total")))
	assert.Equal(t, wantWritten, sum(totals(e, "http_response_bytes_total")))
	assert.Zero(t, m.inFlight.Value())
}

// Durations are the handler's, the longest is that of the window, and the
// goroutines end with the engine.
func TestMiddlewareTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := enginetest.New(t, hotcount.Options{})
		m := newMiddleware(t, e, Options{})
		for _, took := range []time.Duration{20, 500, 30} {
			serve(m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				time.Sleep(took * time.Millisecond)
			})), httptest.NewRequest("GET", "/", nil))
		}
		labels := []string{"code", "2xx", "method", "GET", "route", unmatched}
		assert.EqualValues(t, 550*time.Millisecond, e.Counter("http_request_duration_nanoseconds_total", labels...).Value())
		longest, ok := m.Longest(time.Minute)
		assert.True(t, ok)
		assert.Equal(t, 500*time.Millisecond, longest)
		assert.Equal(t, `http_request_duration_max_seconds{code="2xx",method="GET",route="unmatched"} 0.5, http_requests_in_flight 0`, gaugesText(m))

		time.Sleep(2 * time.Minute)
		_, ok = m.Longest(time.Minute)
		assert.False(t, ok)
		assert.Equal(t, `http_requests_in_flight 0`, gaugesText(m))
	})
}

func gaugesText(m *Middleware) string {
	var all []string
	for _, g := range m.Gauges() {
		all = append(all, fmt.Sprint(g.Key, " ", g.Value))
	}
	return strings.Join(all, ", ")
}

// HEAD has no body to count, however much the handler writes.
func TestMiddlewareCountsNoBodyOfHead(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	h := newMiddleware(t, e, Options{}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("body")) }))
	serve(h, httptest.NewRequest("HEAD", "/", nil))
	assert.Zero(t, sum(totals(e, "http_response_bytes_total")))
	serve(h, httptest.NewRequest("GET", "/", nil))
	assert.EqualValues(t, 4, sum(totals(e, "http_response_bytes_total")))
}

// The handler finds the body as it was, and so does who looks at the request
// afterwards.
func TestMiddlewareGivesTheBodyBack(t *testing.T) {
	m := newMiddleware(t, enginetest.New(t, hotcount.Options{}), Options{})
	for _, body := range []io.ReadCloser{nil, http.NoBody, io.NopCloser(strings.NewReader("x"))} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Body = body
		serve(m.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			assert.Equal(t, body == nil || body == http.NoBody, r.Body == body)
		})), r)
		assert.Equal(t, body, r.Body)
	}
}

func TestMiddlewareRefusesWhatCannotBe(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	for _, c := range []struct {
		o    Options
		want error
	}{
		{Options{Name: "no spaces"}, series.ErrName},
		{Options{Name: "hotcount"}, series.ErrName},
		{Options{Window: window.Options{Resolution: 1}}, window.ErrOptions},
		{Options{Window: window.Options{Coarser: []window.Rung{{Resolution: time.Hour, Buckets: 1}}}}, window.ErrOptions},
		{Options{Window: window.Options{Sampler: e.Sampler()}}, window.ErrOptions},
	} {
		_, err := NewMiddleware(e, c.o)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, "hotcount/web: Options.")
	}
}

// After Close the counts go on.
func TestMiddlewareOutlivesItsEngine(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{})
	require.NoError(t, e.Close(context.Background()))
	serve(m.Wrap(http.NotFoundHandler()), httptest.NewRequest("GET", "/", nil))
	assert.EqualValues(t, 1, sum(requests(e)))
	m.Gauges()
}

// What was in flight in a crash is not in flight for ever: the gauge is no series
// of the engine.
func TestInFlightIsNotKept(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{})
	serve(m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		assert.EqualValues(t, 1, m.InFlight())
		assert.Empty(t, totals(e, "http_requests_in_flight"))
	})), httptest.NewRequest("GET", "/", nil))
}
