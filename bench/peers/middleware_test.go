//go:build unix

package peers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/web"
)

// middlewares are ways to count the requests of a handler behind a mux: none, ours,
// and what Prometheus' documentation chains for requests, requests in flight and
// durations, whose handler does not know its route.
func middlewares(b *testing.B) []middleware {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close(context.Background()) })
	ours, err := web.NewMiddleware(e, web.Options{})
	if err != nil {
		b.Fatal(err)
	}
	labels := []string{"method", "code"}
	inFlight := prometheus.NewGauge(prometheus.GaugeOpts{Name: "in_flight"})
	total := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total"}, labels)
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "seconds"}, labels)
	return []middleware{
		{"bare", func(h http.Handler) http.Handler { return h }},
		{"hotcount", ours.Wrap},
		{"promhttp", func(h http.Handler) http.Handler {
			return promhttp.InstrumentHandlerInFlight(inFlight,
				promhttp.InstrumentHandlerDuration(seconds,
					promhttp.InstrumentHandlerCounter(total, h)))
		}},
	}
}

type middleware struct {
	name string
	wrap func(http.Handler) http.Handler
}

func users() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "user") })
	return mux
}

// A nowhere is a response that costs nothing.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header               { return n.header }
func (nowhere) WriteHeader(int)                     {}
func (nowhere) Write(b []byte) (int, error)         { return len(b), nil }
func (nowhere) WriteString(s string) (int, error)   { return len(s), nil }
func (nowhere) ReadFrom(r io.Reader) (int64, error) { return io.Copy(io.Discard, r) }
func (nowhere) Flush()                              {}

// BenchmarkMiddleware handles a request without a network.
func BenchmarkMiddleware(b *testing.B) {
	for _, m := range middlewares(b) {
		h := m.wrap(users())
		b.Run("impl="+m.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				w, r := nowhere{make(http.Header)}, httptest.NewRequest("GET", "/users/7", nil)
				for pb.Next() {
					h.ServeHTTP(w, r)
				}
			})
		})
	}
}

// BenchmarkSidesMiddleware is BenchmarkMiddleware in rounds.
func BenchmarkSidesMiddleware(b *testing.B) {
	var sides []side
	for _, m := range middlewares(b) {
		h := m.wrap(users())
		sides = append(sides, side{m.name, func() func(p, n int) {
			return func(_, n int) {
				w, r := nowhere{make(http.Header)}, httptest.NewRequest("GET", "/users/7", nil)
				for range n {
					h.ServeHTTP(w, r)
				}
			}
		}})
	}
	compareSides(b, sides)
}
