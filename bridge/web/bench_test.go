package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/internal/enginetest"
)

// BenchmarkHandler answers for an engine of 100,000 series.
func BenchmarkHandler(b *testing.B) {
	const series = 100_000
	e := enginetest.New(b, hotcount.Options{Limits: hotcount.Limits{FamilySeries: series}})
	posts := e.CounterVec("views_total", "post", "code")
	for i := range series {
		posts.With(fmt.Sprintf("post-%07d", i), "200").Inc()
	}
	h := Handler(e)
	for _, limit := range []int{1, 1000, series} {
		b.Run(fmt.Sprint("limit=", limit), func(b *testing.B) {
			b.ReportAllocs()
			r := httptest.NewRequest("GET", fmt.Sprint("/?limit=", limit), nil)
			for b.Loop() {
				h.ServeHTTP(&discard{make(http.Header)}, r)
			}
		})
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header       { return d.header }
func (*discard) WriteHeader(int)             {}
func (*discard) Write(b []byte) (int, error) { return len(b), nil }
