//go:build !race

package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
	"github.com/hotcount/hotcount/window"
)

// Of an engine with 100,000 series, the largest page takes tens of megabytes at
// no moment, and the default one few.
func TestHandlerBoundsMemory(t *testing.T) {
	const series, megabyte = 100_000, 1 << 20
	e := enginetest.New(t, hotcount.Options{Limits: hotcount.Limits{FamilySeries: series + 1}})
	posts := e.CounterVec("views_total", "post", "code")
	for i := range series {
		posts.With(fmt.Sprintf("post-%07d", i), "200").Inc()
	}
	h := Handler(e)
	stats := func() (m runtime.MemStats) {
		for range 2 { // pools of tests before let go at the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m
	}
	for _, c := range []struct{ limit, taken, held int64 }{{1000, 32, 8}, {maxLimit, 64, 32}} {
		before := stats()
		var writing runtime.MemStats
		w := &probe{header: make(http.Header), first: func() { writing = stats() }}
		h.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprint("/?limit=", c.limit), nil))
		taken, held := int64(writing.TotalAlloc-before.TotalAlloc), int64(writing.HeapAlloc-before.HeapAlloc)
		t.Logf("limit %d: %.1f MB allocated to take the page, %.1f MB held to write %.1f MB", c.limit,
			float64(taken)/megabyte, float64(held)/megabyte, float64(w.written)/megabyte)
		assert.Less(t, taken, c.taken*megabyte, "limit %d", c.limit)
		assert.Less(t, held, c.held*megabyte, "limit %d", c.limit)
	}
}

// Keys that strangers made long shorten pages, and no series is left out.
func TestHandlerPagesOfLongKeys(t *testing.T) {
	const series, long = 300, 60 << 10
	e := enginetest.New(t, hotcount.Options{})
	posts := e.CounterVec("views_total", "post")
	for i := range series {
		posts.With(fmt.Sprintf("%03d", i*389%series) + strings.Repeat("x", long)).Inc()
	}
	src, seen := newSource(e, nil), 0
	for after, pages := "", 1; ; pages++ {
		p, err := src.page(t.Context(), query{prefix: "views", limit: maxLimit, after: after})
		require.NoError(t, err)
		size := 0
		for _, it := range p.items {
			require.True(t, strings.HasPrefix(it.key, fmt.Sprintf(`views_total{post="%03dx`, seen)), seen)
			seen++
			size += len(it.key)
		}
		require.LessOrEqual(t, size, maxKeys)
		require.LessOrEqual(t, cap(p.items)*long, 3*maxKeys, "no more is held on the way")
		if after = p.next; after == "" {
			assert.Equal(t, series*long/maxKeys+1, pages)
			break
		}
	}
	assert.Equal(t, series, seen)

	p, err := src.page(t.Context(), query{limit: 1})
	require.NoError(t, err)
	assert.Len(t, p.items, 1)

	e = enginetest.New(t, hotcount.Options{})
	_, err = e.Events("orders", window.EventsOptions{}, "shop", strings.Repeat("x", 2*maxKeys))
	require.NoError(t, err)
	p, err = newSource(e, nil).page(t.Context(), query{prefix: "orders", limit: 10})
	require.NoError(t, err)
	assert.Len(t, p.items, 1, "a page is never empty for that")
}

// A probe is a writer that calls first when it is first written to.
type probe struct {
	header  http.Header
	first   func()
	written int
}

func (p *probe) Header() http.Header { return p.header }
func (p *probe) WriteHeader(int)     {}
func (p *probe) Write(b []byte) (int, error) {
	if p.written == 0 {
		p.first()
	}
	p.written += len(b)
	return len(b), nil
}
