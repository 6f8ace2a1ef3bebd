package web

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
)

func ok(http.ResponseWriter, *http.Request) {}

// copying is a handler that passes on a copy of the request.
func copying(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
	})
}

// wrapping is a handler that passes on another writer.
func wrapping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(wrapped{w}, r) })
}

type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// The route is the pattern, without its method, as far as it can be seen.
func TestRoutes(t *testing.T) {
	inner := http.NewServeMux()
	inner.HandleFunc("GET /users/{id}", ok)
	inner.HandleFunc("GET \t example.org/hosted/{id}", ok)
	inner.HandleFunc("/api/deep/{x...}", ok)
	outer := http.NewServeMux()
	outer.HandleFunc("GET /users/{id}", ok)
	outer.HandleFunc("example.com/static/", ok)
	outer.HandleFunc("POST example.com/form", ok)
	outer.HandleFunc("/{$}", ok)
	outer.HandleFunc("/tree/", ok)
	outer.Handle("/api/", inner)
	outer.Handle("/stripped/", http.StripPrefix("/stripped", inner))
	outer.Handle("/told/", http.StripPrefix("/told", Route("/told", inner)))
	outer.Handle("/twice/", Route("/wrong", http.StripPrefix("/twice", Route("/twice", inner))))

	for _, c := range []struct {
		method, url string
		want        string
	}{
		{"GET", "/users/1", `2xx GET /users/{id}`},
		{"HEAD", "/users/1", `2xx HEAD /users/{id}`},
		{"POST", "/users/1", `4xx POST unmatched`},
		{"GET", "http://example.com/static/x", `2xx GET example.com/static/`},
		{"POST", "http://example.com/form", `2xx POST example.com/form`},
		{"GET", "/", `2xx GET /{$}`},
		{"GET", "/nowhere", `4xx GET unmatched`},
		{"GET", "/tree", `3xx GET /tree/`},
		{"GET", "/api/deep/1/2", `2xx GET /api/deep/{x...}`},
		{"GET", "/api/nowhere", `4xx GET unmatched`},
		{"GET", "/stripped/users/1", `2xx GET /stripped/`},
		{"GET", "/told/users/1", `2xx GET /told/users/{id}`},
		{"GET", "http://example.org/told/hosted/1", `2xx GET example.org/told/hosted/{id}`},
		{"GET", "/told/nowhere", `4xx GET unmatched`},
		{"GET", "/twice/users/1", `2xx GET /twice/users/{id}`},
		{"get", "/tree/", `2xx other /tree/`},
	} {
		for name, h := range map[string]http.Handler{
			"mux":               outer,
			"Route, copying":    copying(Route("", outer)),
			"wrapping, copying": wrapping(copying(Route("", outer))),
		} {
			t.Run(fmt.Sprint(name, " ", c.method, " ", c.url), func(t *testing.T) {
				e := enginetest.New(t, hotcount.Options{})
				serve(newMiddleware(t, e, Options{}).Wrap(h), httptest.NewRequest(c.method, c.url, nil))
				var code, method, route string
				fmt.Sscan(c.want, &code, &method, &route)
				assert.Equal(t, map[string]int64{fmt.Sprintf("{code=%q,method=%q,route=%q}", code, method, route): 1}, requests(e))
			})
		}
	}
}

// Around a single handler, and without a Middleware above, Route harms nothing.
func TestRouteWithoutAMiddleware(t *testing.T) {
	w, panicked := serve(Route("", http.NotFoundHandler()), httptest.NewRequest("GET", "/", nil))
	assert.Nil(t, panicked)
	assert.Equal(t, 404, w.Code)
}

// Whatever clients send, the label values are the program's own. CONNECT, for
// which a mux may set the path as the pattern, is no way round that.
func TestClientsChooseNoLabels(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/tenants/{id}/", ok)
	mux.HandleFunc("GET /users/{id}", ok)
	e := enginetest.New(t, hotcount.Options{})
	h := newMiddleware(t, e, Options{}).Wrap(copying(Route("", mux)))
	direct := newMiddleware(t, e, Options{}).Wrap(mux)

	r := rand.New(rand.NewPCG(2, 3))
	word := func() string {
		b := make([]byte, 1+r.IntN(6))
		for i := range b {
			b[i] = 'a' + byte(r.IntN(26))
		}
		return string(b)
	}
	const n = 2000
	for range n {
		method := []string{"GET", "POST", "CONNECT", word(), "get", "GET\xff"}[r.IntN(6)]
		path := []string{"/tenants/" + word(), "/tenants/" + word() + "/", "/users/" + word(), "/" + word()}[r.IntN(4)]
		req := httptest.NewRequest("GET", path, nil)
		req.Method = method
		req.Host = word()
		serve([]http.Handler{h, direct}[r.IntN(2)], req)
	}
	got := requests(e)
	assert.EqualValues(t, n, sum(got))
	labels := make(map[string]bool)
	for k := range e.Totals() {
		labels[k.Label("method")+" "+k.Label("route")] = true
	}
	assert.Equal(t, []string{
		"CONNECT unmatched",
		"GET /tenants/{id}/", "GET /users/{id}", "GET unmatched",
		"POST /tenants/{id}/", "POST unmatched",
		"other /tenants/{id}/", "other unmatched",
	}, slices.Sorted(maps.Keys(labels)))
}

// A Route option that lets clients choose makes no more than the limit of series,
// and counts all the same.
func TestRoutesAreLimited(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{ExactCodes: true, Route: func(r *http.Request) string { return r.URL.Path[1:] }})
	h := m.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(200 + len(r.URL.Path)%3) }))
	const n = maxTallies + 500
	for i := range n {
		serve(h, httptest.NewRequest("GET", fmt.Sprint("/", i), nil))
	}
	serve(h, httptest.NewRequest("GET", "/", nil))
	got := requests(e)
	assert.EqualValues(t, n+1, sum(got))
	assert.LessOrEqual(t, len(got), maxTallies+3)
	assert.EqualValues(t, 500, got[`{code="202",method="GET",route="other"}`])
	assert.EqualValues(t, 1, got[`{code="201",method="GET",route="other"}`])
}

// An empty route counts as unmatched.
func TestAnEmptyRouteIsUnmatched(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{Name: "api", Route: func(*http.Request) string { return "" }})
	serve(m.Wrap(http.NotFoundHandler()), httptest.NewRequest("GET", "/", nil))
	assert.Equal(t, map[string]int64{`{code="4xx",method="GET",route="unmatched"}`: 1}, totals(e, "api_requests_total"))
}
