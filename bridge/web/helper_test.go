package web

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
)

func newMiddleware(t testing.TB, e *hotcount.Engine, o Options) *Middleware {
	t.Helper()
	m, err := NewMiddleware(e, o)
	require.NoError(t, err)
	return m
}

// totals returns the counters whose names begin with prefix, by the rest of
// their keys, but for durations, which are as they happen to be.
func totals(e *hotcount.Engine, prefix string) map[string]int64 {
	got := make(map[string]int64)
	for k, n := range e.Totals() {
		if rest, ok := strings.CutPrefix(k.String(), prefix); ok && !strings.Contains(k.Name(), "duration") {
			got[rest] = n
		}
	}
	return got
}

// requests returns how many requests were counted, by labels.
func requests(e *hotcount.Engine) map[string]int64 { return totals(e, "http_requests_total") }

func sum(counts map[string]int64) (n int64) {
	for v := range maps.Values(counts) {
		n += v
	}
	return n
}

// serve handles one request, and returns the response and what the handler
// panicked with.
func serve(h http.Handler, r *http.Request) (w *httptest.ResponseRecorder, panicked any) {
	w = httptest.NewRecorder()
	defer func() { panicked = recover() }()
	h.ServeHTTP(w, r)
	return w, nil
}
