package web

import (
	"encoding/json"
	"fmt"
	"go/build"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
)

func testMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/users/{id}/", ok)
	mux.HandleFunc("GET /{$}", ok)
	return mux
}

// onlyPrefix returns the members of a JSON object whose names begin with prefix.
func onlyPrefix(t *testing.T, object, prefix string) string {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object), &all))
	for k := range all {
		if !strings.HasPrefix(k, prefix) {
			delete(all, k)
		}
	}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	return string(b)
}

// An expvar has a number for each series, exact for who reads 64 bits, whatever
// labels hold.
func TestVar(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{})
	m := newMiddleware(t, e, Options{})
	for i, v := range nastyValues {
		e.Counter("a_total", "l", v).Add(math.MaxInt64 - int64(i))
	}
	e.Uniques("b").AddString("x")
	var got map[string]json.Number
	d := json.NewDecoder(strings.NewReader(Var(e, m).String()))
	d.UseNumber()
	require.NoError(t, d.Decode(&got))
	for i, v := range nastyValues {
		key := keyText(e.Counter("a_total", "l", v).Key())
		assert.Equal(t, fmt.Sprint(math.MaxInt64-int64(i)), got[key].String())
	}
	assert.Equal(t, json.Number("1"), got["b"])
	assert.Equal(t, json.Number("0"), got["http_requests_in_flight"])
	assert.Contains(t, got, "hotcount_series")
	assert.NotContains(t, got, "hotcount_vars_truncated")
}

// An expvar of a large engine says that it is not whole.
func TestVarIsLimited(t *testing.T) {
	e := enginetest.New(t, hotcount.Options{Limits: hotcount.Limits{FamilySeries: maxVars + 1}})
	v := e.CounterVec("a_total", "l")
	for i := range maxVars + 1 {
		v.With(fmt.Sprint(i)).Inc()
	}
	var got map[string]float64
	require.NoError(t, json.Unmarshal([]byte(Var(e).String()), &got))
	assert.Len(t, got, maxVars+1)
	assert.Equal(t, 1.0, got["hotcount_vars_truncated"])
}

// Importing the package serves nothing on http.DefaultServeMux.
func TestNoExpvar(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	assert.NotContains(t, p.Imports, "expvar")
}
