package live_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/live"
)

// reference finds what a file of the page refers to.
var reference = regexp.MustCompile(`(?:href|src)="([^"#]*)"|from "([^"]*)"`)

// load fetches the page at an address as a browser would, with all that it
// refers to, and returns the files.
func load(t *testing.T, address string) map[string]string {
	t.Helper()
	files := map[string]string{}
	var fetch func(address *url.URL)
	fetch = func(address *url.URL) {
		resp, err := http.Get(address.String())
		require.NoError(t, err)
		defer resp.Body.Close()
		content, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode, address)
		at := resp.Request.URL // after a redirect
		files[cmp.Or(at.Path, "/")] = string(content)
		for _, m := range reference.FindAllStringSubmatch(string(content), -1) {
			to, err := at.Parse(m[1] + m[2])
			require.NoError(t, err)
			require.Equal(t, at.Host, to.Host, "the page needs no other server")
			if _, ok := files[to.Path]; !ok {
				fetch(to)
			}
		}
	}
	start, err := url.Parse(address)
	require.NoError(t, err)
	fetch(start)
	return files
}

func TestMounts(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{})
	mux := http.NewServeMux()
	mux.Handle("/debug/hotcount/", http.StripPrefix("/debug/hotcount", page))
	mux.Handle("/bare", http.StripPrefix("/bare", page))
	mux.Handle("/bare/", http.StripPrefix("/bare/", page))
	server := httptest.NewServer(mux)
	defer server.Close()
	backend, err := url.Parse(server.URL + "/debug/hotcount")
	require.NoError(t, err)
	proxy := httptest.NewServer(http.StripPrefix("/stats", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(backend)
	}}))
	defer proxy.Close()
	root := httptest.NewServer(page)
	defer root.Close()
	for address, at := range map[string]string{
		root.URL:                        "/",
		server.URL + "/debug/hotcount":  "/debug/hotcount/",
		server.URL + "/debug/hotcount/": "/debug/hotcount/",
		server.URL + "/bare":            "/bare/",
		server.URL + "/bare?x=1":        "/bare/",
		server.URL + "/bare/":           "/bare/",
		proxy.URL + "/stats/":           "/stats/",
	} {
		files := load(t, address)
		assert.Len(t, files, 5, address)
		for _, name := range []string{"", "page.css", "page.js", "draw.js", "icon.svg"} {
			assert.NotEmpty(t, files[at+name], "%s: %s", address, at+name)
		}
	}
}

// Nothing of the page would need an exception in its Content-Security-Policy.
func TestPageHasNoInlineCode(t *testing.T) {
	server := httptest.NewServer(newPage(t, newEngine(t), live.Options{}))
	defer server.Close()
	for name, content := range load(t, server.URL) {
		assert.NotRegexp(t, `(?i)<style|<script[^>]*>[^<]|\sstyle=|\son\w+=|javascript:|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`, content, name)
	}
}

func TestAssetsAreCached(t *testing.T) {
	page := newPage(t, newEngine(t), live.Options{})
	first := answer(page, request("127.0.0.1", "localhost"))
	etag := first.Header().Get("ETag")
	require.NotEmpty(t, etag)
	again := answer(page, request("127.0.0.1", "localhost", "If-None-Match", etag))
	assert.Equal(t, http.StatusNotModified, again.Code)
}

func BenchmarkUpdate(b *testing.B) {
	for _, series := range []int{1_000, 1_000_000} {
		e, err := hotcount.New(hotcount.Options{Limits: hotcount.Limits{FamilySeries: int64(series)}})
		require.NoError(b, err)
		for i := range series {
			e.Counter("views_total", "post", fmt.Sprint(i)).Add(int64(i))
		}
		for _, query := range []string{"", "99"} {
			b.Run(fmt.Sprintf("series=%d/query=%s", series, query), func(b *testing.B) {
				update, size := live.Updates(e, query), 0
				update()
				for b.Loop() {
					size = update()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(series), "ns/series")
				b.ReportMetric(float64(size), "B/update")
			})
		}
	}
}
