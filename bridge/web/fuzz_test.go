package web

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/series"
)

// A query is refused, or read as whoever wrote it meant it.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"", "limit=1", "prefix=a&after=%ff&limit=100000", "limit=+1", "limit=01", "a=b", "%", ";", "&&", "prefix"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parseQuery(raw)
		if err != nil {
			require.ErrorIs(t, err, errQuery)
			return
		}
		require.True(t, 1 <= q.limit && q.limit <= maxLimit)
		values, err := url.ParseQuery(raw)
		require.NoError(t, err)
		require.Equal(t, values.Get("prefix"), q.prefix)
		require.Equal(t, values.Get("after"), q.after)
	})
}

// Whatever labels hold, the JSON is valid, the key finds its series and no other,
// and so do the labels; a value that is text is there as it was, or as
// series.ToValidUTF8 has it.
func FuzzLabels(f *testing.F) {
	for i, v := range nastyValues {
		f.Add(v, nastyValues[(i+7)%len(nastyValues)])
	}
	f.Fuzz(func(t *testing.T, v, w string) {
		e, err := hotcount.New(hotcount.Options{})
		require.NoError(t, err)
		e.Counter("a_total", "l", v).Add(1)
		e.Counter("a_total", "l", w).Add(2)
		h := Handler(e)
		all := get(t, h, "prefix=a_")
		want := map[string]string{series.ToValidUTF8(v): "1", series.ToValidUTF8(w): "2"}
		if v == w {
			want[series.ToValidUTF8(v)] = "3"
		}
		got := make(map[string]string)
		for _, c := range all.Counters {
			got[c.Labels["l"]] = c.Total
			one := get(t, h, url.Values{"prefix": {c.Key}}.Encode())
			require.Len(t, one.Counters, 1)
			require.Equal(t, c.Total, one.Counters[0].Total)
		}
		require.Equal(t, want, got)
		require.Len(t, all.Counters, len(want))
		require.True(t, json.Valid([]byte(Var(e).String())))
	})
}

// A Middleware counts what strangers send as one request, and keeps their words
// out of its labels.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/users/1", "example.com")
	f.Add("CONNECT", "/users", "a:443")
	f.Add("get\xff", "//..//%2f", "")
	f.Fuzz(func(t *testing.T, method, path, host string) {
		u, err := url.Parse(path)
		if err != nil || strings.ContainsAny(method, " \r\n") {
			return
		}
		e, err := hotcount.New(hotcount.Options{})
		require.NoError(t, err)
		defer e.Close(t.Context())
		m, err := NewMiddleware(e, Options{})
		require.NoError(t, err)
		r := httptest.NewRequest("GET", "/", nil)
		r.Method, r.URL, r.Host = method, u, host
		serve(m.Wrap(testMux()), r)
		got := requests(e)
		require.Len(t, got, 1)
		require.EqualValues(t, 1, sum(got))
		for k := range e.Totals() {
			assert.Contains(t, []string{"/users/{id}/", "/{$}", unmatched}, k.Label("route"))
			assert.Contains(t, methods, k.Label("method"))
		}
		require.Zero(t, m.InFlight())
	})
}
