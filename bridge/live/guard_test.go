package live_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
)

func newPage(t *testing.T, e *hotcount.Engine, o live.Options) *live.Page {
	t.Helper()
	page, err := live.New(e, o)
	require.NoError(t, err)
	t.Cleanup(page.Close)
	return page
}

func newEngine(t *testing.T) *hotcount.Engine {
	t.Helper()
	e, err := hotcount.New(hotcount.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close(context.Background())) })
	return e
}

// request returns a request as it comes to a server that listens on an address.
func request(local, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	address := &net.TCPAddr{IP: net.ParseIP(local), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, address))
}

func answer(p http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

// A browser that was led here by another site's script is refused, whichever of
// the three headers gives it away.
func TestForeignRequestsAreRefused(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{Hosts: []string{"Stats.Example.com", "2001:db8::1", "192.0.2.9"}})
	for _, r := range []*http.Request{
		request("127.0.0.1", "evil.example"),            // DNS rebinding
		request("127.0.0.1", "evil.example:8080"),       //
		request("127.0.0.1", "localhost.evil.example"),  //
		request("127.0.0.1", "127.0.0.1.evil.example"),  //
		request("127.0.0.1", "evil.example#localhost"),  //
		request("127.0.0.1", "evil.example\\localhost"), //
		request("127.0.0.1", "x@localhost"),             //
		request("127.0.0.1", "evillocalhost"),           //
		request("127.0.0.1", ""),                        //
		request("127.0.0.1", ":8080"),                   //
		request("127.0.0.1", "10.0.0.7:8080"),           // not where it listens
		request("10.0.0.7", "10.0.0.8:8080"),            //
		request("127.0.0.1", "[fe80::1]:8080"),          //
		request("127.0.0.1", "stats.example.com.evil.example"),
		request("127.0.0.1", "evil.example", "X-Forwarded-Host", "localhost"),
		request("127.0.0.1", "localhost:8080", "Origin", "http://evil.example"),
		request("127.0.0.1", "localhost:8080", "Origin", "null"),
		request("127.0.0.1", "localhost:8080", "Origin", ""),
		request("127.0.0.1", "localhost:8080", "Origin", "http://localhost:3000"),
		request("127.0.0.1", "localhost:8080", "Origin", "http://localhost:8080", "Origin", "http://evil.example"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "cross-site"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "same-site"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "nonsense"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"),
	} {
		w := answer(page, r)
		assert.Equal(t, http.StatusForbidden, w.Code, "%q %v", r.Host, r.Header)
		assert.NotContains(t, w.Body.String(), "<html", "%q", r.Host)
	}
}

func TestOwnRequestsAreAnswered(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{Hosts: []string{"Stats.Example.com", "2001:db8::1", "192.0.2.9"}})
	for _, r := range []*http.Request{
		request("127.0.0.1", "localhost"),
		request("127.0.0.1", "LocalHost.:8080"),
		request("127.0.0.1", "blog.localhost:8080"),
		request("127.0.0.1", "127.0.0.1:8080"),
		request("127.0.0.1", "127.9.9.9"),
		request("::1", "[::1]:8080"),
		request("10.0.0.7", "10.0.0.7:8080"),
		request("10.0.0.7", "localhost:9090"), // a tunnel
		request("fe80::1", "[fe80::1]:8080"),
		request("10.0.0.7", "stats.example.com"),
		request("10.0.0.7", "STATS.example.com.:443"),
		request("10.0.0.7", "[2001:DB8::1]:443"),
		request("10.0.0.7", "192.0.2.9"),
		request("127.0.0.1", "localhost:8080", "Origin", "http://LOCALHOST:8080"),
		request("127.0.0.1", "127.0.0.1:8080", "Origin", "https://stats.example.com"), // a proxy
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "same-origin"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "none"),
		request("127.0.0.1", "localhost:8080", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
	} {
		assert.Equal(t, http.StatusOK, answer(page, r).Code, "%q %v", r.Host, r.Header)
	}
}

// Whatever is asked, an answer cannot be framed, sniffed or made to run text.
func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{})
	requests := map[int]*http.Request{
		http.StatusOK:               request("127.0.0.1", "localhost"),
		http.StatusForbidden:        request("127.0.0.1", "evil.example"),
		http.StatusNotFound:         httptest.NewRequest(http.MethodGet, "http://localhost/absent", nil),
		http.StatusMethodNotAllowed: httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader("x")),
		http.StatusBadRequest:       httptest.NewRequest(http.MethodGet, "http://localhost/events?by=nonsense", nil),
	}
	for code, r := range requests {
		w := answer(page, r)
		assert.Equal(t, code, w.Code)
		h := w.Header()
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "trusted-types 'none'"} {
			assert.Contains(t, policy, part, code)
		}
		assert.NotContains(t, policy, "unsafe", code)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), code)
		assert.Equal(t, "same-origin", h.Get("Cross-Origin-Resource-Policy"), code)
		assert.Empty(t, h.Get("Access-Control-Allow-Origin"), code)
	}
}

func TestOnlyGetAndHead(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{})
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"} {
		for _, path := range []string{"/", "/events", "/page.js"} {
			w := answer(page, httptest.NewRequest(method, "http://localhost"+path, nil))
			assert.Equal(t, http.StatusMethodNotAllowed, w.Code, "%s %s", method, path)
			assert.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
		}
	}
	for _, path := range []string{"/", "/events", "/page.js"} {
		w := answer(page, httptest.NewRequest("HEAD", "http://localhost"+path, nil))
		assert.Equal(t, http.StatusOK, w.Code, path)
		assert.Empty(t, w.Body.String(), path)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	e := newEngine(t)
	for _, o := range []live.Options{
		{Hosts: []string{""}}, {Hosts: []string{"a.example:80"}}, {Hosts: []string{"http://a.example"}}, {Hosts: []string{"a.example/x"}},
		{Hosts: []string{"[::1]:80"}}, {Hosts: []string{"*"}},
		{Interval: 1}, {Interval: -1}, {Rows: -1}, {Rows: 501}, {Streams: -1},
	} {
		_, err := live.New(e, o)
		assert.ErrorIs(t, err, live.ErrOptions, "%+v", o)
	}
	_, err := live.New(nil, live.Options{})
	assert.ErrorIs(t, err, live.ErrOptions)
}
