package prom_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
	"github.com/hotcount/hotcount/internal/enginetest"
)

const benchSeries = 100_000

var benchLabels = []string{"method", "post"}

func postOf(i int) string { return fmt.Sprintf("%08d", i*7919) }

func hotcountRegistry(b *testing.B) *prometheus.Registry {
	e := enginetest.New(b, hotcount.Options{Limits: hotcount.Limits{FamilySeries: benchSeries}})
	views := e.CounterVec("views_total", benchLabels...)
	for i := range benchSeries {
		views.With("GET", postOf(i)).Add(int64(i))
	}
	r := prometheus.NewRegistry()
	require.NoError(b, r.Register(prom.New(e, prom.Options{})))
	return r
}

func nativeRegistry(b *testing.B) *prometheus.Registry {
	views := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "views_total", Help: "Views."}, benchLabels)
	for i := range benchSeries {
		views.WithLabelValues("GET", postOf(i)).Add(float64(i))
	}
	r := prometheus.NewRegistry()
	require.NoError(b, r.Register(views))
	return r
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkScrape compares a scrape of 100,000 counters with that of a native
// registry: what the collector and the registry do, and the whole page.
func BenchmarkScrape(b *testing.B) {
	for _, impl := range []struct {
		name     string
		registry func(*testing.B) *prometheus.Registry
	}{{"hotcount", hotcountRegistry}, {"native", nativeRegistry}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			r := impl.registry(b)
			b.Run("of=collect", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					families, err := r.Gather()
					require.NoError(b, err)
					require.NotEmpty(b, families)
				}
			})
			b.Run("of=page", func(b *testing.B) {
				handler := promhttp.HandlerFor(r, promhttp.HandlerOpts{DisableCompression: true})
				request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
				b.ReportAllocs()
				for b.Loop() {
					handler.ServeHTTP(discard{make(http.Header)}, request)
				}
			})
		})
	}
}
