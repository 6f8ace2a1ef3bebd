package otel_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/hotcount/hotcount"
	"github.com/hotcount/hotcount/bridge/otel"
)

// A reader gets the engine's metrics beside those of the program's own meters. A
// real program has a PeriodicReader with an exporter here.
func Example() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	e.Counter("jobs_total", "queue", "mail").Add(2)

	reader := metric.NewManualReader(metric.WithProducer(otel.New(e, otel.Options{})))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(context.Background())

	show(reader)
	// Output: jobs_total [{"queue":"mail"}] 2
}

// A library that was given a Meter registers instruments on it.
func ExampleRegister() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	e.Counter("jobs_total", "queue", "mail").Add(2)

	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(context.Background())

	registration, err := otel.Register(provider.Meter("shop"), e, otel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer registration.Unregister()

	show(reader)
	// Output: jobs_total [{"queue":"mail"}] 2
}

func ExampleNew() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(context.Background())
	e.Counter("jobs_total").Add(2)
	e.Counter("open").Add(-1)

	producer := otel.New(e, otel.Options{
		Units:  map[string]string{"jobs_total": "{job}"},
		UpDown: []string{"open"},
	})
	scopes, err := producer.Produce(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range scopes[0].Metrics {
		if d, ok := m.Data.(metricdata.Sum[int64]); ok && !strings.HasPrefix(m.Name, "hotcount_") {
			fmt.Println(m.Name, m.Unit, d.IsMonotonic, d.DataPoints[0].Value)
		}
	}
	// Output:
	// jobs_total {job} true 2
	// open  false -1
}

// show prints the sums that a reader collects, without the engine's own.
func show(reader metric.Reader) {
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		log.Fatal(err)
	}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "jobs_total" {
				continue
			}
			for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
				fmt.Println(m.Name, p.Attributes.ToSlice(), p.Value)
			}
		}
	}
}
