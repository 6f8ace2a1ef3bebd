package prom_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/prom"
)

// A server shows its engine under /metrics.
func Example() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	e.Counter("jobs_total", "queue", "mail").Add(2)

	registry := prometheus.NewRegistry()
	registry.MustRegister(prom.New(e, prom.Options{
		Help: map[string]string{"jobs_total": "Jobs done."},
	}))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling:     promhttp.ContinueOnError,
		EnableOpenMetrics: true,
	})

	page := httptest.NewRecorder()
	handler.ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for lines := bufio.NewScanner(page.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), "jobs_total") {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// # HELP jobs_total Jobs done.
	// # TYPE jobs_total counter
	// jobs_total{queue="mail"} 2
}

// Counters that may fall are shown as gauges.
func ExampleNew() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	e.Counter("connections").Add(3)
	e.Counter("connections").Add(-1)

	registry := prometheus.NewRegistry()
	registry.MustRegister(prom.New(e, prom.Options{UpDown: []string{"connections"}}))
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "connections" {
			fmt.Println(f.GetType(), f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output: GAUGE 2
}

// Two engines share a registry by a label that tells them apart.
func ExampleCollector() {
	registry := prometheus.NewRegistry()
	for i, name := range []string{"front", "back"} {
		e, err := hotcount.New(hotcount.Options{})
		if err != nil {
			log.Fatal(err)
		}
		defer e.Close(context.Background())
		e.Counter("jobs_total").Add(int64(i) + 1)
		labels := prometheus.Labels{"engine": name}
		prometheus.WrapRegistererWith(labels, registry).MustRegister(prom.New(e, prom.Options{}))
	}
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "jobs_total" {
			for _, m := range f.GetMetric() {
				fmt.Println(m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
			}
		}
	}
	// Output:
	// back 2
	// front 1
}
