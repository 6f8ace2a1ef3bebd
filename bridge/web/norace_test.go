//go:build !race

package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hotcount/hotcount"
)

// Of an engine with 100,000 series, the largest page takes tens of megabytes at
// no moment, and the default one few.
func TestHandlerBoundsMemory(t *testing.T) {
	const series, megabyte = 100_000, 1 << 20
	e := newEngine(t, hotcount.Options{Limits: hotcount.Limits{FamilySeries: series + 1}})
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
